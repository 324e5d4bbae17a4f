import type { Extras } from "../../canonical/parts.ts";
import { type Fields, omit } from "../../json/fields.ts";

/**
 * How a thing was spelled in this format, and what of it the hub has no name for. Of a part: `item` holds the rest of
 * its item, and stands only on the item's first part; `part` the rest of its own object.
 */
export interface Spelling {
  readonly item?: Fields;
  readonly part?: Fields;
  /** It belongs to the item of the part before. */
  readonly continues?: true;
  /** The content is plain text, not a list of parts. */
  readonly asText?: true;
  /** Of a tool or its call: the name in its namespace, where the hub's had to be another. */
  readonly name?: string;
  /** The message is the request's `instructions`. */
  readonly asInstructions?: true;
}

/** Extras of this format that are fields; of those in `spelled` the hub says the meaning as well. */
export function markExtras(fields: Fields, spelled?: Fields): Extras {
  return { format: "openai-responses", fields, ...(spelled === undefined ? {} : { spelling: spelled }) };
}

/** Extras of a thing that says how it was spelled. */
export function markSpelling(spelling: Spelling): Extras {
  const fields = omit({ ...spelling.item, ...spelling.part }, WITHOUT_MEANING);
  return { format: "openai-responses", fields, spelling: spelling as Fields };
}

/** What of items and parts means nothing elsewhere, or is said by the hub. */
const WITHOUT_MEANING = new Set([
  "type",
  "id",
  "status",
  "annotations",
  "logprobs",
  "summary",
  "content",
  "encrypted_content",
]);

/** What this format wrote on a thing; null where another did, or nobody. */
export function readSpelling(thing: { readonly extras?: Extras }): Spelling | null {
  return thing.extras?.format === "openai-responses" ? ((thing.extras.spelling ?? {}) as Spelling) : null;
}

/** The same for extras that are fields. */
export function readOwnFields(extras: Extras | undefined): Fields | null {
  return extras?.format === "openai-responses" ? { ...extras.fields, ...extras.spelling } : null;
}
