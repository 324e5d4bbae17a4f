import type { Part } from "../canonical/parts.ts";
import type { Message } from "../canonical/request.ts";
import { encodeAssistant } from "./encode-assistant.ts";
import { encodeMedia } from "./encode-media.ts";
import { encodeResults, KnownCalls } from "./encode-results.ts";
import { type Encoding, type GeminiPart, warn } from "./encoding.ts";

export interface Content {
  readonly role: "user" | "model";
  readonly parts: readonly GeminiPart[];
}

/** A content while its neighbours may still join it. */
interface OpenContent extends Content {
  readonly parts: GeminiPart[];
}

/** The conversation: what leads it is the system's, the rest alternates between user and model. */
export interface Conversation {
  readonly system: readonly GeminiPart[];
  readonly contents: readonly Content[];
}

export function encodeContents(messages: readonly Message[], encoding: Encoding): Conversation {
  const leading = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const first = leading < 0 ? messages.length : leading;
  const system = messages.slice(0, first).flatMap((message, at) => encodeSystem(message, at, encoding));
  const contents: OpenContent[] = [];
  const calls = new KnownCalls();
  for (let at = first; at < messages.length; ) {
    const end = messages[at]?.role === "tool" ? endOfResults(messages, at) : at + 1;
    addContent(contents, encodeMessages(messages, at, end, calls, encoding));
    at = end;
  }
  if (contents.length > 0) {
    const opening = contents[0]?.role === "model" ? [addOpening(encoding)] : [];
    return { system, contents: [...opening, ...contents.map(({ role, parts }) => ({ role, parts }))] };
  }
  // Gemini wants somebody to have said something.
  if (system.length > 0)
    warn(encoding, "messages", "The provider needs a user's message; the system's is sent as one.");
  return { system: [], contents: [{ role: "user", parts: system.length > 0 ? system : [{ text: " " }] }] };
}

/** Stands for the user's words where a conversation begins with the model's; Gemini refuses a call that no turn precedes. */
function addOpening(encoding: Encoding): Content {
  warn(encoding, "messages", "The conversation does not begin with the user; a first message was added.");
  return { role: "user", parts: [{ text: "Continue." }] };
}

function endOfResults(messages: readonly Message[], from: number): number {
  let end = from;
  while (messages[end]?.role === "tool") end++;
  return end;
}

/** Messages `at` to `end`: one, or the results of one turn. */
function encodeMessages(
  messages: readonly Message[],
  at: number,
  end: number,
  calls: KnownCalls,
  encoding: Encoding,
): Content {
  const message = messages[at] as Message;
  switch (message.role) {
    case "assistant":
      return { role: "model", parts: encodeAssistant(message.parts, `messages[${at}]`, calls, encoding) };
    case "tool":
      return { role: "user", parts: encodeResults(messages.slice(at, end), at, calls, encoding) };
    case "system":
    case "developer":
      warn(
        encoding,
        `messages[${at}]`,
        "The provider takes system messages at the beginning only; sent as a user's.",
      );
      return { role: "user", parts: encodeSystem(message, at, encoding) };
    case "user":
      return { role: "user", parts: encodeUser(message, at, encoding) };
  }
}

/** A content that more parts may join. */
interface OpenContent extends Content {
  readonly parts: GeminiPart[];
  readonly answersCalls: boolean;
}

/** Function responses stand alone, so that Gemini can tell where a turn begins; others join their neighbour. */
function addContent(contents: OpenContent[], { role, parts }: Content): void {
  if (parts.length === 0) return;
  const last = contents.at(-1);
  const answersCalls = parts.some((part) => "functionResponse" in part);
  if (last?.role === role && !last.answersCalls && !answersCalls)
    for (const part of parts) last.parts.push(part);
  else contents.push({ role, parts: [...parts], answersCalls });
}

function encodeSystem(message: Message, at: number, encoding: Encoding): GeminiPart[] {
  return message.parts.flatMap((part, place) => {
    if (part.kind === "text") return part.text === "" ? [] : [{ text: part.text }];
    warn(
      encoding,
      `messages[${at}].content[${place}]`,
      "The provider takes only text from the system; it is left out.",
    );
    return [];
  });
}

function encodeUser(message: Message, at: number, encoding: Encoding): GeminiPart[] {
  return message.parts.flatMap((part, place) =>
    encodeUserPart(part, `messages[${at}].content[${place}]`, encoding),
  );
}

function encodeUserPart(part: Part, field: string, encoding: Encoding): GeminiPart[] {
  switch (part.kind) {
    case "text":
    case "refusal":
      // Vertex refuses an empty text.
      return part.text === "" ? [] : [{ text: part.text }];
    case "image":
    case "audio":
    case "video":
    case "file":
      return [encodeMedia(part, field)];
    case "native":
      if (part.format === "gemini") return [part.value];
      warn(encoding, field, `The provider knows no ${part.type}; it is left out.`);
      return [];
    default:
      return [];
  }
}
