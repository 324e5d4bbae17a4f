import type { Fields } from "../../base/json/fields.ts";
import type { Part, RefusalPart, TextPart, ToolResultPart } from "../canonical/model/parts.ts";
import type { Message } from "../canonical/model/request.ts";
import { encodeMedia } from "./encode-media.ts";
import { type GeminiEncoding, type GeminiPart, hasLevels } from "./encoding.ts";
import { encodeFunctionName } from "./function-name.ts";

/**
 * Encodes the tool results of one turn in the order of their calls: without ids, Gemini matches results to calls by name and
 * order. Media that a function response cannot hold follow all responses. `first` is the index of the first message.
 */
export function encodeResults(
  messages: readonly Message[],
  first: number,
  encoding: GeminiEncoding,
): GeminiPart[] {
  const responses: GeminiPart[] = [];
  const outside: GeminiPart[] = [];
  for (const result of listResults(messages, first, encoding)) {
    const media = splitMedia(result, encoding);
    for (const piece of media.outside) outside.push(piece);
    responses.push({ functionResponse: encodeResponse(result, media, encoding) });
  }
  return outside.length === 0 ? responses : responses.concat(outside);
}

interface Result {
  readonly part: ToolResultPart;
  readonly field: string;
  /** The position of its call among all calls. */
  readonly callIndex: number;
}

function listResults(messages: readonly Message[], first: number, { calls }: GeminiEncoding): Result[] {
  const results: Result[] = [];
  messages.forEach(({ parts }, message) => {
    parts.forEach((part, index) => {
      if (part.kind !== "tool-result") return;
      const callIndex = calls.indexOf(part.callId);
      results.push({ part, field: `messages[${first + message}].content[${index}]`, callIndex });
    });
  });
  return results.sort((a, b) => a.callIndex - b.callIndex);
}

/** The media of a result: those inside its function response, and those that follow it. */
interface ResultMedia {
  readonly inside: readonly GeminiPart[];
  readonly outside: readonly GeminiPart[];
}

function splitMedia({ part, field }: Result, encoding: GeminiEncoding): ResultMedia {
  const media = part.content.every(isText) ? [] : encodeAllMedia(part, field);
  const fitsInside = (piece: GeminiPart) => hasLevels(encoding) && "inlineData" in piece;
  return { inside: media.filter(fitsInside), outside: media.filter((piece) => !fitsInside(piece)) };
}

/** The text of a result that holds only media which follow it. */
const SEE_MEDIA = "The result follows.";

function encodeResponse(
  { part, field }: Result,
  { inside, outside }: ResultMedia,
  encoding: GeminiEncoding,
): Fields {
  const known = encoding.calls.nameOf(part.callId);
  const name = known ?? encodeFunctionName({ name: part.toolName ?? "tool" }, field);
  const text = joinTexts(part.content) || (outside.length > 0 ? SEE_MEDIA : "");
  const response = part.isError ? { error: text } : { output: text };
  const encoded = hasLevels(encoding) ? { id: part.callId, name, response } : { name, response };
  return inside.length === 0 ? encoded : { ...encoded, parts: inside };
}

function isText(part: Part): part is TextPart | RefusalPart {
  return part.kind === "text" || part.kind === "refusal";
}

function joinTexts(content: readonly Part[]): string {
  let text = "";
  for (const part of content) {
    if (!isText(part) || part.text === "") continue;
    text += text === "" ? part.text : `\n${part.text}`;
  }
  return text;
}

function encodeAllMedia({ content }: ToolResultPart, field: string): GeminiPart[] {
  return content.flatMap((piece, index) => encodeResultMedia(piece, `${field}.content[${index}]`));
}

function encodeResultMedia(part: Part, field: string): GeminiPart[] {
  switch (part.kind) {
    case "image":
    case "audio":
    case "video":
    case "file":
      return [encodeMedia(part, field)];
    default:
      return [];
  }
}
