import type { AnswerIdentity } from "../../canonical/format.ts";
import { asFields, asList, type Fields, omit } from "../../json/fields.ts";
import { OWN_CHOICE_FIELDS } from "../own-fields.ts";
import { encodeChunk, TEXT_HOLE } from "../stream-events.ts";
import { isPlainPiece, type ToolCallTracker } from "../tool-calls.ts";
import { type ChunkTemplate, learnTemplate, PADDING_HOLE, type TextField } from "./chunk-template.ts";
import { encodeSaid, otherFields } from "./relay-delta.ts";

/** An event of the vendor that was parsed. */
export interface ParsedChunk {
  /** What stands before the data in its line; "" for data that was joined from several lines. */
  readonly prefix: string;
  /** The data, bytes as Latin-1. */
  readonly data: string;
  readonly chunk: Fields;
  /** The fields of the chunk that the gateway does not write itself. */
  readonly fields: Fields;
}

/**
 * Learns a template from an event whose one choice brought text and nothing else. `tools` are that choice's calls. Returns null
 * for any other event.
 */
export function learnChunk(
  identity: AnswerIdentity,
  { prefix, data, chunk, fields }: ParsedChunk,
  tools: ToolCallTracker,
): ChunkTemplate | null {
  const choice = asFields(asList(chunk["choices"])[0]) ?? {};
  const delta = asFields(choice["delta"]);
  const isPlain = typeof choice["finish_reason"] !== "string" && asFields(chunk["usage"]) === null;
  if (prefix === "" || delta === null || !isPlain) return null;
  const field = findOnlyText(delta);
  const out = field === null ? null : makeDelta(field, delta, tools);
  if (field === null || out === null) return null;
  // The padding is searched for after the text, so it must stand behind the choices.
  const { obfuscation, ...others } = fields;
  const padding = typeof obfuscation === "string" ? PADDING_HOLE : obfuscation;
  const index = typeof choice["index"] === "number" ? choice["index"] : 0;
  const choices = [{ index, delta: out, ...omit(choice, OWN_CHOICE_FIELDS), finish_reason: null }];
  const last = padding === undefined ? {} : { obfuscation: padding };
  return learnTemplate(prefix, data, field, encodeChunk(identity, others, choices, last));
}

/** Returns the one field of a delta that holds text; null where there is none, more than one, or anything else besides. */
function findOnlyText(delta: Fields): TextField | null {
  if (Object.keys(otherFields(delta)).length > 0) return null;
  if (delta["refusal"] || delta["reasoning_details"] || delta["function_call"]) return null;
  const found = TEXT_FIELDS.filter((field) => (delta[field] ?? "") !== "");
  if (asList(delta["tool_calls"]).length > 0) return found.length === 0 ? "arguments" : null;
  const [only] = found;
  return only !== undefined && found.length === 1 && typeof delta[only] === "string" ? only : null;
}

const TEXT_FIELDS = ["content", "reasoning_content", "reasoning"] as const;

/** Returns the client's delta with a hole in place of the text. */
function makeDelta(field: TextField, delta: Fields, tools: ToolCallTracker): Fields | null {
  const nothing = { content: null, reasoning: null, details: null };
  if (field === "content") return encodeSaid({ ...nothing, content: TEXT_HOLE });
  if (field !== "arguments") return encodeSaid({ ...nothing, reasoning: TEXT_HOLE });
  const pieces = asList(delta["tool_calls"]);
  const piece = asFields(pieces[0]) ?? {};
  const startsCall = piece["id"] || asFields(piece["function"])?.["name"];
  const index = typeof piece["index"] === "number" ? tools.indexOf(piece["index"]) : null;
  if (pieces.length !== 1 || startsCall || index === null || !isPlainPiece(piece)) return null;
  return { tool_calls: [{ index, function: { arguments: TEXT_HOLE } }] };
}
