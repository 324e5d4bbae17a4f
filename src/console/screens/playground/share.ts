import { APIS, type Api, type Conversation, isObject } from "../../conversation/conversation.ts";
import { parseRequest } from "../../conversation/parse-request.ts";
import { printRequest } from "../../conversation/print-request.ts";

/** What a share link holds: a request. It never holds a key. */
interface Shared {
  readonly api: Api;
  readonly models: readonly string[];
  readonly conversation: Conversation;
}

/** The maximum length of a link in characters. Chats and mail programs cut longer ones. */
const MAX_LINK = 30_000;
/** The maximum number of characters that are read from a link. */
const MAX_READ = 200_000;
const MAX_MODELS = 4;

/** Prints a request as the fragment of a link; null if it is too long, for example because of an image. */
export function printShared({ api, models, conversation }: Shared): string | null {
  const body = printRequest("chat", models[0] ?? "", conversation);
  const bytes = new TextEncoder().encode(JSON.stringify({ api, models, body }));
  const fragment = `#share=${toBase64Url(bytes)}`;
  return fragment.length > MAX_LINK ? null : fragment;
}

/** Reads the fragment of a link; null if it holds no request. */
export function readShared(fragment: string): Shared | null {
  const match = /^#share=([\w-]+)$/.exec(fragment);
  if (match === null || fragment.length > MAX_READ) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(fromBase64Url(match[1] as string)));
    if (!isObject(value) || !isObject(value["body"])) return null;
    const api = APIS.find((name) => name === value["api"]) ?? "chat";
    const { model, conversation } = parseRequest("chat", value["body"]);
    const listed = Array.isArray(value["models"])
      ? value["models"].filter((id) => typeof id === "string")
      : [];
    const models = listed.length > 0 ? listed.slice(0, MAX_MODELS) : [model];
    return { api, models, conversation };
  } catch {
    return null;
  }
}

function toBase64Url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64Url(text: string): Uint8Array {
  const decoded = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(decoded, (sign) => sign.charCodeAt(0));
}
