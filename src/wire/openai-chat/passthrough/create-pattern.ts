import { asFields, asList, type Fields, omit } from "../../json/fields.ts";
import { OWN_CHOICE_FIELDS } from "../own-fields.ts";
import { encodeRest, TEXT_PLACEHOLDER } from "../stream-events.ts";
import type { ToolCallTracker } from "../tool-call-tracker.ts";
import { isPlainPiece } from "../tool-calls.ts";
import { findUsage } from "../usage.ts";
import { ChunkPattern, PADDING_PLACEHOLDER } from "./chunk-pattern.ts";
import type { TextField } from "./chunk-template.ts";
import { encodeText, otherFields } from "./relay-delta.ts";

/** An event of the vendor that was parsed. */
export interface ParsedChunk {
  /** What precedes the data in its line; "" for data that was joined from several lines. */
  readonly prefix: string;
  /** The data, bytes as Latin-1. */
  readonly data: string;
  readonly chunk: Fields;
  /** The fields of the chunk that the gateway does not write itself. */
  readonly fields: Fields;
}

/**
 * Makes a pattern from an event whose one choice contains text and nothing else. `tools` are that choice's calls. Returns null for
 * any other event.
 */
export function createPattern(parsed: ParsedChunk, tools: ToolCallTracker): ChunkPattern | null {
  const { prefix, chunk, fields } = parsed;
  const choice = asFields(asList(chunk["choices"])[0]) ?? {};
  const delta = asFields(choice["delta"]);
  const isPlain = typeof choice["finish_reason"] !== "string" && findUsage(chunk) === null;
  if (prefix === "" || delta === null || !isPlain) return null;
  const field = findOnlyText(delta);
  const encoded = field === null ? null : encodePlaceholder(field, delta, tools);
  if (field === null || encoded === null) return null;
  // The padding is searched for after the text, so it must follow the choices.
  const { obfuscation, ...others } = fields;
  const padding = typeof obfuscation === "string" ? PADDING_PLACEHOLDER : obfuscation;
  const index = typeof choice["index"] === "number" ? choice["index"] : 0;
  const choices = [{ index, delta: encoded, ...omit(choice, OWN_CHOICE_FIELDS), finish_reason: null }];
  const last = padding === undefined ? {} : { obfuscation: padding };
  return ChunkPattern.create(parsed, { field, choice: index }, encodeRest(others, choices, last));
}

/** Returns the one field of a delta that contains text; null where there is none, more than one, or anything else. */
function findOnlyText(delta: Fields): TextField | null {
  if (Object.keys(otherFields(delta)).length > 0) return null;
  if (delta["refusal"] || delta["reasoning_details"] || delta["function_call"]) return null;
  const found = TEXT_FIELDS.filter((field) => (delta[field] ?? "") !== "");
  if (asList(delta["tool_calls"]).length > 0) return found.length === 0 ? "arguments" : null;
  const [only] = found;
  return only !== undefined && found.length === 1 && typeof delta[only] === "string" ? only : null;
}

const TEXT_FIELDS = ["content", "reasoning_content", "reasoning"] as const;

/** Returns the client's delta with a placeholder for the text; null where a template would not fit later events. */
function encodePlaceholder(field: TextField, delta: Fields, tools: ToolCallTracker): Fields | null {
  const empty = { content: null, reasoning: null, details: null };
  if (field === "content") return encodeText({ ...empty, content: TEXT_PLACEHOLDER });
  if (field !== "arguments") return encodeText({ ...empty, reasoning: TEXT_PLACEHOLDER });
  const pieces = asList(delta["tool_calls"]);
  const piece = asFields(pieces[0]) ?? {};
  const { index: vendorIndex } = piece;
  if (pieces.length !== 1 || typeof vendorIndex !== "number" || !isPlainPiece(piece)) return null;
  const startsCall = piece["id"] || asFields(piece["function"])?.["name"];
  const index = startsCall ? null : tools.allowCopies(vendorIndex);
  if (index === null) return null;
  return { tool_calls: [{ index, function: { arguments: TEXT_PLACEHOLDER } }] };
}
