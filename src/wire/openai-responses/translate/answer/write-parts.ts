import type { Fields } from "../../../../base/json/fields.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import { encodePart } from "../parts/encode-part.ts";
import { readSpelling } from "../parts/extras.ts";

/** Emits an event: its type, and its fields without type and sequence number. */
export type Emit = (type: string, fields: Fields) => void;

/** The events of a form of part. */
interface PartForm {
  /** Their type before `.delta` and `.done`. */
  readonly events: string;
  /** The field of the last event with the whole text. */
  readonly whole: string;
  /** The events around them, and the field with the part's index in its list; null for the one text of a call. */
  readonly list: { readonly events: string; readonly index: string } | null;
}

const CONTENT = { events: "response.content_part", index: "content_index" };
const SUMMARY = { events: "response.reasoning_summary_part", index: "summary_index" };

const FORMS = {
  output_text: { events: "response.output_text", whole: "text", list: CONTENT },
  refusal: { events: "response.refusal", whole: "refusal", list: CONTENT },
  reasoning_text: { events: "response.reasoning_text", whole: "text", list: CONTENT },
  summary_text: { events: "response.reasoning_summary_text", whole: "text", list: SUMMARY },
  function: { events: "response.function_call_arguments", whole: "arguments", list: null },
  custom: { events: "response.custom_tool_call_input", whole: "input", list: null },
} as const satisfies Record<string, PartForm>;

export type FormName = keyof typeof FORMS;

/** Returns the form of a part; null for parts without events of their own. */
export function formOf(part: Part): FormName | null {
  switch (part.kind) {
    case "text":
      return "output_text";
    case "refusal":
      return "refusal";
    case "tool-call":
      return part.tool;
    case "reasoning":
      // Reasoning of other vendors is sent as a summary, which is what clients display.
      return part.isSummary || readSpelling(part) === null ? "summary_text" : "reasoning_text";
    default:
      return null;
  }
}

/** Returns the index field of the list that parts of a form are in; null for calls. */
export function listOf(form: FormName): string | null {
  return FORMS[form].list?.index ?? null;
}

/** The position of a part, which its events repeat. */
export interface PartPosition {
  readonly form: FormName;
  readonly itemId: string;
  readonly outputIndex: number;
  /** Its index in its list. */
  readonly index: number;
}

/** Emits the event that starts a part. */
export function emitAdded(emit: Emit, position: PartPosition): void {
  const { list } = FORMS[position.form];
  if (list !== null)
    emit(`${list.events}.added`, { ...encodePosition(position), part: EMPTY[position.form] });
}

const EMPTY: Partial<Record<FormName, Fields>> = {
  output_text: { type: "output_text", annotations: [], logprobs: [], text: "" },
  refusal: { type: "refusal", refusal: "" },
  reasoning_text: { type: "reasoning_text", text: "" },
  summary_text: { type: "summary_text", text: "" },
};

/** Emits a piece of a part's text. */
export function emitDelta(emit: Emit, position: PartPosition, { text, logprobs }: TextPiece): void {
  const extra = position.form === "output_text" ? { logprobs } : {};
  emit(`${FORMS[position.form].events}.delta`, { ...encodePosition(position), delta: text, ...extra });
}

interface TextPiece {
  readonly text: string;
  readonly logprobs: readonly unknown[];
}

/** Emits the events that end a part, with its whole text. */
export function emitDone(emit: Emit, position: PartPosition, { text, part }: WholePart): void {
  const { events, whole: field, list } = FORMS[position.form];
  const extra = position.form === "output_text" ? { logprobs: part?.["logprobs"] ?? [] } : {};
  emit(`${events}.done`, { ...encodePosition(position), [field]: text, ...extra });
  if (list !== null) emit(`${list.events}.done`, { ...encodePosition(position), part });
}

interface WholePart {
  readonly text: string;
  /** The encoded part; null for the text of a call. */
  readonly part: Fields | null;
}

function encodePosition({ form, itemId, outputIndex, index }: PartPosition): Fields {
  const { list } = FORMS[form];
  const fields = { item_id: itemId, output_index: outputIndex };
  return list === null ? fields : { ...fields, [list.index]: index };
}

/** Encodes a text or refusal of a message, with the lists that clients expect. */
export function encodeMessagePart(part: Part, logprobs: readonly unknown[]): Record<string, unknown> {
  const encoded = encodePart(part, "output_text") ?? {};
  if (part.kind !== "text") return encoded;
  const isOwn = readSpelling(part)?.part !== undefined;
  return {
    ...(isOwn ? {} : { annotations: [], logprobs: [] }),
    ...encoded,
    ...(logprobs.length > 0 ? { logprobs } : {}),
  };
}
