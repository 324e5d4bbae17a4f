import type { Part, RefusalPart, TextPart, ToolResultPart } from "../canonical/parts.ts";
import type { Message } from "../canonical/request.ts";
import type { Fields } from "../json/fields.ts";
import { encodeMedia } from "./encode-media.ts";
import { type Encoding, type GeminiPart, hasLevels } from "./encoding.ts";
import { encodeFunctionName } from "./function-name.ts";

/** The calls so far, by id: their names as Gemini knows them, and their order. Of an id used again the newest. */
export class KnownCalls {
  private readonly calls = new Map<string, { readonly name: string; readonly order: number }>();
  private added = 0;

  add(id: string, name: string): void {
    this.calls.set(id, { name, order: this.added++ });
  }

  nameOf(id: string): string | null {
    return this.calls.get(id)?.name ?? null;
  }

  orderOf(id: string): number {
    return this.calls.get(id)?.order ?? Number.MAX_SAFE_INTEGER;
  }
}

/**
 * The results of one turn, in the order of their calls, because where ids are not sent name and order tell which
 * is whose. Media that a response cannot hold follow all of them.
 */
export function encodeResults(
  messages: readonly Message[],
  first: number,
  calls: KnownCalls,
  encoding: Encoding,
): GeminiPart[] {
  const responses: GeminiPart[] = [];
  const beside: GeminiPart[] = [];
  for (const { part, field } of listResults(messages, first, calls)) {
    const media = part.content.every(isSpoken) ? [] : encodeAllMedia(part, field);
    const fitsInside = (piece: GeminiPart) => hasLevels(encoding) && "inlineData" in piece;
    const inside = media.filter(fitsInside);
    const outside = media.filter((piece) => !fitsInside(piece));
    for (const piece of outside) beside.push(piece);
    const name = calls.nameOf(part.callId) ?? encodeFunctionName({ name: part.toolName ?? "tool" }, field);
    responses.push({ functionResponse: encodeResponse(part, name, { inside, outside }, encoding) });
  }
  return beside.length === 0 ? responses : responses.concat(beside);
}

interface Result {
  readonly part: ToolResultPart;
  readonly field: string;
  readonly order: number;
}

function listResults(messages: readonly Message[], first: number, calls: KnownCalls): Result[] {
  const results: Result[] = [];
  messages.forEach(({ parts }, message) => {
    parts.forEach((part, at) => {
      if (part.kind !== "tool-result") return;
      const order = calls.orderOf(part.callId);
      results.push({ part, field: `messages[${first + message}].content[${at}]`, order });
    });
  });
  return results.sort((a, b) => a.order - b.order);
}

/** What a result says that has only media, which follow. */
const SEE_MEDIA = "The result follows.";

function encodeResponse(
  part: ToolResultPart,
  name: string,
  { inside, outside }: { readonly inside: readonly GeminiPart[]; readonly outside: readonly GeminiPart[] },
  encoding: Encoding,
): Fields {
  const text = joinTexts(part.content) || (outside.length > 0 ? SEE_MEDIA : "");
  const response = part.isError ? { error: text } : { output: text };
  const said = hasLevels(encoding) ? { id: part.callId, name, response } : { name, response };
  return inside.length === 0 ? said : { ...said, parts: inside };
}

function isSpoken(part: Part): part is TextPart | RefusalPart {
  return part.kind === "text" || part.kind === "refusal";
}

function joinTexts(content: readonly Part[]): string {
  let text = "";
  for (const part of content) {
    if (!isSpoken(part) || part.text === "") continue;
    text += text === "" ? part.text : `\n${part.text}`;
  }
  return text;
}

function encodeAllMedia({ content }: ToolResultPart, field: string): GeminiPart[] {
  return content.flatMap((piece, at) => encodeResultMedia(piece, `${field}.content[${at}]`));
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
