import type { Fields } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type {
  NativePart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../../../canonical/model/parts.ts";
import { encodeCache } from "./cache-mark.ts";
import { encodeCitation, isVendors } from "./citations.ts";
import { FORMAT, isOwn, keptFields } from "./extras.ts";
import { encodeMedia } from "./media.ts";
import { encodeOwnReasoning } from "./reasoning-parts.ts";
import { readOwnToolInput, readToolInput, wrapText } from "./tool-input.ts";

/**
 * Encodes a part as a block for an upstream; null if it is left out. `field` names it to the client.
 * @throws GatewayError `invalid_request` if leaving it out would change the request.
 */
export function encodePart(part: Part, field: string, warn: Warn): Fields | null {
  switch (part.kind) {
    case "text":
      return encodeText(part, part.citations?.filter(isVendors));
    case "refusal":
      return { type: "text", text: part.text };
    case "reasoning":
      return encodeOwnReasoning(part);
    case "tool-call":
      return encodeToolUse(part);
    case "tool-result":
      return encodeToolResult(part, field, warn);
    case "native":
      if (part.format === FORMAT) return part.value;
      warn(field, `This model's provider does not know ${part.type} parts; the part was left out.`);
      return null;
    default:
      return encodeMedia(part, field);
  }
}

/** Encodes a text block with these citations. */
export function encodeText(part: TextPart, citations: TextPart["citations"]): Fields {
  const block = addKept({ type: "text", text: part.text }, part);
  return citations === undefined || citations.length === 0
    ? block
    : { ...block, citations: citations.map(encodeCitation) };
}

/**
 * Adds the cache mark and this format's kept fields to a block; returns the block itself without them, which is the usual case.
 */
function addKept(block: Fields, part: Exclude<Part, NativePart>): Fields {
  if (part.cache === undefined && !isOwn(part)) return block;
  return { ...block, ...encodeCache(part), ...keptFields(part) };
}

/** Encodes a `tool_use` block. */
export function encodeToolUse(part: ToolCallPart): Fields {
  return addKept({ type: "tool_use", id: part.id, name: part.name, input: encodeInput(part) }, part);
}

function encodeInput(part: ToolCallPart): unknown {
  if (part.tool === "custom") return wrapText(part.arguments);
  return isOwn(part) ? readOwnToolInput(part.arguments) : readToolInput(part);
}

function encodeToolResult(part: ToolResultPart, field: string, warn: Warn): Fields {
  const content =
    bareTextOf(part.content) ??
    encodeContent(part.content, (inner, index) => encodePart(inner, `${field}.content[${index}]`, warn));
  const result: Record<string, unknown> = { type: "tool_result", tool_use_id: part.callId };
  if (part.content.length > 0) result["content"] = content;
  if (part.isError) result["is_error"] = true;
  return addKept(result, part);
}

/** Encodes parts as a string if they came as one, or are one plain text; else as blocks. */
export function encodeContent(
  parts: readonly Part[],
  encode: (part: Part, at: number) => Fields | null,
): string | Fields[] {
  const text = bareTextOf(parts);
  if (text !== null) return text;
  const blocks: Fields[] = [];
  for (let at = 0; at < parts.length; at++) {
    const block = encode(parts[at] as Part, at);
    if (block !== null) blocks.push(block);
  }
  return blocks;
}

/** Returns the text where a content is only one plain text; null for any other. */
export function bareTextOf(parts: readonly Part[]): string | null {
  const first = parts[0];
  return parts.length === 1 && first !== undefined && isBareText(first) ? first.text : null;
}

/** Returns whether a part is a text without a cache mark, citations or extras. */
export function isBareText(part: Part): part is TextPart {
  return part.kind === "text" && part.cache === undefined && part.citations === undefined && !isOwn(part);
}
