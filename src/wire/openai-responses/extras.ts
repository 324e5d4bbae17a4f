import type { Extras } from "../canonical/parts.ts";
import type { Fields } from "../json/fields.ts";

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

/** Extras of this format. */
export function markExtras(fields: Fields | Spelling): Extras {
  return { format: "openai-responses", fields: fields as Fields };
}

/** What this format wrote on a thing; null where another did, or nobody. */
export function readSpelling(thing: { readonly extras?: Extras }): Spelling | null {
  return thing.extras?.format === "openai-responses" ? (thing.extras.fields as Spelling) : null;
}

/** The same for extras that are fields and no spelling. */
export function readOwnFields(extras: Extras | undefined): Fields | null {
  return extras?.format === "openai-responses" ? extras.fields : null;
}
