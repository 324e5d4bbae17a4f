import type { Part } from "../canonical/model/parts.ts";
import type { Message } from "../canonical/model/request.ts";
import { encodeAssistant } from "./encode-assistant.ts";
import { encodeMedia } from "./encode-media.ts";
import { encodeResults } from "./encode-results.ts";
import { type GeminiEncoding, type GeminiPart, warn } from "./encoding.ts";

interface Content {
  readonly role: "user" | "model";
  readonly parts: readonly GeminiPart[];
}

/** A conversation in Gemini's form. */
interface Conversation {
  /** The system messages at the start of the conversation. */
  readonly system: readonly GeminiPart[];
  readonly contents: readonly Content[];
}

/** Encodes a conversation. Gemini demands at least one content, and one of the user before any of the model. */
export function encodeContents(messages: readonly Message[], encoding: GeminiEncoding): Conversation {
  const leading = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const first = leading < 0 ? messages.length : leading;
  const system = messages.slice(0, first).flatMap((message, at) => encodeSystem(message, at, encoding));
  const contents: OpenContent[] = [];
  for (let at = first; at < messages.length; ) {
    const end = messages[at]?.role === "tool" ? endOfResults(messages, at) : at + 1;
    addContent(contents, encodeMessages(messages.slice(at, end), at, encoding));
    at = end;
  }
  if (contents.length === 0 && system.length === 0)
    return { system, contents: [{ role: "user", parts: [{ text: " " }] }] };
  // System messages keep their position, so that it is the same in the next turn.
  const opening = contents[0]?.role === "user" ? [] : [addOpening(encoding)];
  return { system, contents: [...opening, ...contents.map(({ role, parts }) => ({ role, parts }))] };
}

/** Adds a user message before a conversation that begins with the model: Gemini rejects a call that no user turn precedes. */
function addOpening(encoding: GeminiEncoding): Content {
  warn(encoding, "messages", "The conversation does not begin with the user; a first message was added.");
  return { role: "user", parts: [{ text: "Continue." }] };
}

function endOfResults(messages: readonly Message[], from: number): number {
  let end = from;
  while (messages[end]?.role === "tool") end++;
  return end;
}

/** Encodes one message, or the tool results of one turn; `at` is the index of the first. */
function encodeMessages(messages: readonly Message[], at: number, encoding: GeminiEncoding): Content {
  const message = messages[0] as Message;
  switch (message.role) {
    case "assistant":
      return { role: "model", parts: encodeAssistant(message.parts, `messages[${at}]`, encoding) };
    case "tool":
      return { role: "user", parts: encodeResults(messages, at, encoding) };
    case "system":
    case "developer":
      warn(
        encoding,
        `messages[${at}]`,
        "The provider accepts system messages only at the beginning; it was sent as a user message.",
      );
      return { role: "user", parts: encodeSystem(message, at, encoding) };
    case "user":
      return { role: "user", parts: encodeUser(message, at, encoding) };
  }
}

/** A content while the parts of its neighbours may still join it. */
interface OpenContent extends Content {
  readonly parts: GeminiPart[];
  readonly answersCalls: boolean;
}

/** Joins neighbours of one role. Function responses stay in a separate content, so that Gemini can tell where a turn begins. */
function addContent(contents: OpenContent[], { role, parts }: Content): void {
  if (parts.length === 0) return;
  const last = contents.at(-1);
  const answersCalls = parts.some((part) => "functionResponse" in part);
  if (last?.role === role && !last.answersCalls && !answersCalls)
    for (const part of parts) last.parts.push(part);
  else contents.push({ role, parts: [...parts], answersCalls });
}

function encodeSystem(message: Message, at: number, encoding: GeminiEncoding): GeminiPart[] {
  return message.parts.flatMap((part, index) => {
    if (part.kind === "text") return part.text === "" ? [] : [{ text: part.text }];
    warn(
      encoding,
      `messages[${at}].content[${index}]`,
      "The provider accepts only text in system messages; it is left out.",
    );
    return [];
  });
}

function encodeUser(message: Message, at: number, encoding: GeminiEncoding): GeminiPart[] {
  return message.parts.flatMap((part, index) =>
    encodeUserPart(part, `messages[${at}].content[${index}]`, encoding),
  );
}

function encodeUserPart(part: Part, field: string, encoding: GeminiEncoding): GeminiPart[] {
  switch (part.kind) {
    case "text":
    case "refusal":
      // Vertex AI rejects empty texts.
      return part.text === "" ? [] : [{ text: part.text }];
    case "image":
    case "audio":
    case "video":
    case "file":
      return [encodeMedia(part, field)];
    case "native":
      if (part.format === "gemini") return [part.value];
      warn(encoding, field, `The provider does not know ${part.type}; it is left out.`);
      return [];
    default:
      return [];
  }
}
