import type { Part } from "../../canonical/parts.ts";
import type { Fields } from "../../json/fields.ts";
import { encodeContentPart } from "./content.ts";
import { readSpelling } from "./extras.ts";

/** Takes an event: its type and its fields but for type and number. */
export type Emit = (type: string, fields: Fields) => void;

/** How the events of a part are called, and what they hold. */
interface PartForm {
  /** Their name before `.delta` and `.done`. */
  readonly events: string;
  /** The field of the last one that holds all of it. */
  readonly whole: string;
  /** The events around them, and the field that says its place in the item; null for the one text of a call. */
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

/** The form that a part is shown in; null for what has no events of its own. */
export function formOf(part: Part): FormName | null {
  switch (part.kind) {
    case "text":
      return "output_text";
    case "refusal":
      return "refusal";
    case "tool-call":
      return part.tool;
    case "reasoning":
      // Other vendors' thoughts stand where clients look for a summary.
      return part.isSummary || readSpelling(part) === null ? "summary_text" : "reasoning_text";
    default:
      return null;
  }
}

/** Whether parts of a form stand in a list of their item, and in which. */
export function listOf(form: FormName): string | null {
  return FORMS[form].list?.index ?? null;
}

/** Where a part's events say it is. */
export interface PartPlace {
  readonly form: FormName;
  readonly itemId: string;
  readonly outputIndex: number;
  /** Among the parts of its list. */
  readonly index: number;
}

/** Opens a part. */
export function emitAdded(emit: Emit, place: PartPlace): void {
  const { list } = FORMS[place.form];
  if (list !== null) emit(`${list.events}.added`, { ...encodePlace(place), part: EMPTY[place.form] });
}

const EMPTY: Partial<Record<FormName, Fields>> = {
  output_text: { type: "output_text", annotations: [], logprobs: [], text: "" },
  refusal: { type: "refusal", refusal: "" },
  reasoning_text: { type: "reasoning_text", text: "" },
  summary_text: { type: "summary_text", text: "" },
};

/** Adds a piece of text to a part. */
export function emitDelta(emit: Emit, place: PartPlace, delta: string, logprobs: readonly unknown[]): void {
  const beside = place.form === "output_text" ? { logprobs } : {};
  emit(`${FORMS[place.form].events}.delta`, { ...encodePlace(place), delta, ...beside });
}

/** Closes a part, which is `whole` now: its text, and the part itself where it stands in a list. */
export function emitDone(emit: Emit, place: PartPlace, text: string, whole: Fields | null): void {
  const { events, whole: field, list } = FORMS[place.form];
  const beside = place.form === "output_text" ? { logprobs: whole?.["logprobs"] ?? [] } : {};
  emit(`${events}.done`, { ...encodePlace(place), [field]: text, ...beside });
  if (list !== null) emit(`${list.events}.done`, { ...encodePlace(place), part: whole });
}

function encodePlace({ form, itemId, outputIndex, index }: PartPlace): Fields {
  const { list } = FORMS[form];
  const place = { item_id: itemId, output_index: outputIndex };
  return list === null ? place : { ...place, [list.index]: index };
}

/** A text or refusal as it stands in its message, with the lists that clients count on. */
export function encodeSpokenPart(part: Part, logprobs: readonly unknown[]): Record<string, unknown> {
  const encoded = encodeContentPart(part, "output_text") ?? {};
  if (part.kind !== "text") return encoded;
  const isOwn = readSpelling(part)?.part !== undefined;
  return {
    ...(isOwn ? {} : { annotations: [], logprobs: [] }),
    ...encoded,
    ...(logprobs.length > 0 ? { logprobs } : {}),
  };
}
