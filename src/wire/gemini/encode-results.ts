import type { Part, ToolResultPart } from "../canonical/parts.ts";
import type { Message } from "../canonical/request.ts";
import type { Fields } from "../json/fields.ts";
import { encodeMedia } from "./encode-media.ts";
import { type Encoding, type GeminiPart, hasLevels } from "./encoding.ts";
import { encodeFunctionName } from "./function-name.ts";

/** The calls so far, by id: their names as Gemini knows them, and their order. */
export type KnownCalls = Map<string, { readonly name: string; readonly order: number }>;

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
  const results = messages.flatMap(({ parts }, message) =>
    parts.flatMap((part, at) =>
      part.kind === "tool-result" ? [{ part, field: `messages[${first + message}].content[${at}]` }] : [],
    ),
  );
  const order = ({ part }: { part: ToolResultPart }) =>
    calls.get(part.callId)?.order ?? Number.MAX_SAFE_INTEGER;
  const encoded = results
    .toSorted((a, b) => order(a) - order(b))
    .map(({ part, field }) => encodeResult(part, field, calls, encoding));
  return [...encoded.map(({ response }) => response), ...encoded.flatMap(({ beside }) => beside)];
}

function encodeResult(part: ToolResultPart, field: string, calls: KnownCalls, encoding: Encoding) {
  const name = calls.get(part.callId)?.name ?? encodeFunctionName({ name: part.toolName ?? "tool" }, field);
  const text = part.content
    .map(readText)
    .filter((piece) => piece !== "")
    .join("\n");
  const media = part.content.flatMap((piece, at) => encodeResultMedia(piece, `${field}.content[${at}]`));
  const isInside = (piece: GeminiPart) => hasLevels(encoding) && "inlineData" in piece;
  const inside = media.filter(isInside);
  const response: Fields = {
    ...(hasLevels(encoding) ? { id: part.callId } : {}),
    name,
    response: part.isError ? { error: text } : { output: text },
    ...(inside.length > 0 ? { parts: inside } : {}),
  };
  return { response: { functionResponse: response }, beside: media.filter((piece) => !isInside(piece)) };
}

function readText(part: Part): string {
  return part.kind === "text" || part.kind === "refusal" ? part.text : "";
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
