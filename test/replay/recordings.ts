import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { readRecorded } from "../fidelity/recorded/recorded-answers.ts";
import type { Json } from "./conversation.ts";

/** Where recorded exchanges are found next to the project; they are not part of it. */
export const EXCHANGES = join(import.meta.dir, "../../../shared/recordings/exchanges.jsonl.gz");

/** Whether recorded exchanges are available. */
export const hasExchanges = existsSync(EXCHANGES);

/** An answer of a vendor, with its request if that was recorded too. */
export interface Recording {
  readonly name: string;
  readonly format: FormatName;
  /** The host of the request, if recorded; otherwise the folder identifies it. */
  readonly host: string | null;
  /** In the vendor's format; `null` if only the answer is known. */
  readonly request: Json | null;
  readonly isStream: boolean;
  /** Bytes read as Latin-1. */
  readonly body: string;
}

/** An exchange as stored in the file. */
interface Exchange {
  readonly name: string;
  readonly host: string;
  readonly path: string;
  readonly request: Json;
  readonly status: number;
  readonly content_type: string;
  readonly body?: string;
  readonly body_base64?: string;
}

/** All exchanges, by kind. */
export interface Recordings {
  readonly answers: readonly Recording[];
  /** Answers with an error's status. */
  readonly failures: readonly (Recording & { readonly status: number })[];
  readonly embeddings: readonly { readonly name: string; readonly request: Json; readonly body: string }[];
  /** How many of each kind use an API that the gateway does not support. */
  readonly unsupported: ReadonlyMap<string, number>;
}

/** Reads all available recordings: answers alone, including hand-made ones, and exchanges. */
export function readRecordings(): Recordings {
  const exchanges = hasExchanges ? readExchanges() : [];
  const unsupported = new Map<string, number>();
  const known = exchanges.flatMap((exchange) => {
    const format = formatOf(exchange);
    if (format !== null) return [{ exchange, format }];
    const kind = `${exchange.host}${exchange.path.replace(/\/model\/[^/]+/, "/model/…")}`;
    if (!isEmbedding(exchange)) unsupported.set(kind, (unsupported.get(kind) ?? 0) + 1);
    return [];
  });
  const alone = readRecorded().map(
    ({ name, format, whole, stream }): Recording => ({
      name,
      format,
      host: null,
      request: null,
      isStream: stream !== null,
      body: stream ?? Buffer.from(JSON.stringify(whole)).toString("latin1"),
    }),
  );
  const both = known.map(({ exchange, format }) => ({
    ...toRecording(exchange, format),
    status: exchange.status,
  }));
  return {
    answers: [...alone, ...both.filter(({ status }) => status === 200)],
    failures: both.filter(({ status }) => status !== 200),
    embeddings: exchanges
      .filter(isEmbedding)
      .map(({ name, request, body = "" }) => ({ name, request, body })),
    unsupported,
  };
}

function readExchanges(): Exchange[] {
  const text = Buffer.from(Bun.gunzipSync(readFileSync(EXCHANGES))).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** Formats by the end of their path. */
const FORMATS: readonly (readonly [path: RegExp, format: FormatName])[] = [
  [/\/chat\/completions$|^\/v1\/chat$/, "openai-chat"],
  [/\/responses$/, "openai-responses"],
  [/\/messages$/, "anthropic-messages"],
  [/:(stream)?[gG]enerateContent$/, "gemini"],
  [/\/converse(-stream)?$/, "bedrock-converse"],
  [/\/v2\/chat$/, "cohere-chat"],
];

/** Returns null for APIs that the gateway does not support: Cohere's first, Ollama's own, Bedrock's raw calls. */
function formatOf({ path, host }: Exchange): FormatName | null {
  if (host === "api.cohere.com" && path === "/v1/chat") return null;
  return FORMATS.find(([end]) => end.test(path))?.[1] ?? null;
}

function isEmbedding({ path }: Exchange): boolean {
  return path.endsWith("/v1/embeddings") || /\/deployments\/[^/]+\/embeddings$/.test(path);
}

function toRecording(exchange: Exchange, format: FormatName): Recording {
  const { body = "", body_base64: encoded } = exchange;
  return {
    name: exchange.name,
    format,
    host: exchange.host,
    request: exchange.request,
    isStream: /stream/.test(exchange.content_type) && exchange.status === 200,
    body: (encoded === undefined ? Buffer.from(body) : Buffer.from(encoded, "base64")).toString("latin1"),
  };
}
