import { asFields, type Fields, isEmpty } from "../../../base/json/fields.ts";
import { ChunkTemplate, PADDING_PLACEHOLDER, type TextField } from "../../fast/chunk-template.ts";
import type { Chunk, ChunkDelta } from "../read-chunk.ts";
import { type ChunkEncoder, TEXT_PLACEHOLDER } from "../stream-events.ts";
import type { ToolCallTracker } from "../tool-call-tracker.ts";
import { isPlainPiece } from "../tool-calls.ts";
import { encodeText } from "./relay-delta.ts";

/** An event of the vendor that was read. */
export interface ReadEvent {
  /** The text before the data in its line; "" for data that was joined from several lines. */
  readonly prefix: string;
  /** The data, bytes as Latin-1. */
  readonly data: string;
  readonly chunk: Chunk;
  /** The fields of the chunk that the gateway does not write itself. */
  readonly fields: Fields;
}

/**
 * Makes a template from an event whose one choice contains text and nothing else. `tools` are that choice's calls. Returns null for
 * any other event.
 */
export function createTemplate(
  event: ReadEvent,
  tools: ToolCallTracker,
  encoder: ChunkEncoder,
): ChunkTemplate | null {
  const { prefix, chunk, fields } = event;
  const [choice] = chunk.choices;
  if (prefix === "" || choice === undefined || choice.finish !== null || chunk.usage !== null) return null;
  const { index, delta, others: choiceFields } = choice;
  const field = findOnlyText(delta);
  const encoded = field === null ? null : encodePlaceholder(field, delta, tools);
  if (field === null || encoded === null) return null;
  // The padding is searched for after the text, so it must follow the choices.
  const { obfuscation, ...others } = fields;
  const padding = typeof obfuscation === "string" ? PADDING_PLACEHOLDER : obfuscation;
  const choices = [{ index, delta: encoded, ...choiceFields, finish_reason: null }];
  const last = padding === undefined ? {} : { obfuscation: padding };
  return ChunkTemplate.create(event, field, encoder.encodeEvent(others, choices, last));
}

/** Returns the one field of a delta that contains text; null if there is none, more than one, or anything else. */
function findOnlyText({ raw, isMessage, calls, others }: ChunkDelta): TextField | null {
  if (isMessage || !isEmpty(others) || raw["refusal"] || raw["reasoning_details"] || raw["function_call"])
    return null;
  const found = TEXT_FIELDS.filter((field) => (raw[field] ?? "") !== "");
  if (calls.length > 0) return found.length === 0 ? "arguments" : null;
  const [only] = found;
  return only !== undefined && found.length === 1 && typeof raw[only] === "string" ? only : null;
}

const TEXT_FIELDS = ["content", "reasoning_content", "reasoning"] as const;

/** Returns the client's delta with a placeholder for the text; null if a template would not fit later events. */
function encodePlaceholder(field: TextField, { calls }: ChunkDelta, tools: ToolCallTracker): Fields | null {
  const empty = { content: null, reasoning: null, details: null };
  if (field === "content") return encodeText({ ...empty, content: TEXT_PLACEHOLDER });
  if (field !== "arguments") return encodeText({ ...empty, reasoning: TEXT_PLACEHOLDER });
  const piece = asFields(calls[0]) ?? {};
  const { index: vendorIndex } = piece;
  if (calls.length !== 1 || typeof vendorIndex !== "number" || !isPlainPiece(piece)) return null;
  const startsCall = piece["id"] || asFields(piece["function"])?.["name"];
  const index = startsCall ? null : tools.allowCopies(vendorIndex);
  if (index === null) return null;
  return { tool_calls: [{ index, function: { arguments: TEXT_PLACEHOLDER } }] };
}
