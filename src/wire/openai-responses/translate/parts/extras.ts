import { type Fields, omit } from "../../../../base/json/fields.ts";
import type { Extras } from "../../../canonical/model/parts.ts";

/**
 * How a message, part or tool was spelled in this format, and its unknown fields. Of a part, `item` are the other fields of its
 * item, and only on the item's first part; `part` are the other fields of its own object.
 */
interface Spelling {
  readonly item?: Fields;
  readonly part?: Fields;
  /** It belongs to the item of the part before it. */
  readonly continues?: true;
  /** The content is a plain string, not a list of parts. */
  readonly asText?: true;
  /** Of a tool or a call: its name in its namespace, if the canonical name had to be another. */
  readonly name?: string;
  /** The message is the request's `instructions`. */
  readonly asInstructions?: true;
}

/** Returns extras that are fields. The canonical model has the meaning of those in `spelled`. */
export function markExtras(fields: Fields, spelled?: Fields): Extras {
  return { format: "openai-responses", fields, ...(spelled === undefined ? {} : { spelling: spelled }) };
}

/** Returns extras with a spelling. */
export function markSpelling(spelling: Spelling): Extras {
  const fields = omit({ ...spelling.item, ...spelling.part }, WITHOUT_MEANING);
  return { format: "openai-responses", fields, spelling: spelling as Fields };
}

/** Fields of items and parts that mean nothing in other formats, or that the canonical model has. */
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

/** Returns the spelling that this format kept; null if another format kept one, or none did. */
export function readSpelling(source: { readonly extras?: Extras }): Spelling | null {
  return source.extras?.format === "openai-responses" ? ((source.extras.spelling ?? {}) as Spelling) : null;
}

/** Returns extras that are fields; null if another format wrote them, or none. */
export function readOwnFields(extras: Extras | undefined): Fields | null {
  return extras?.format === "openai-responses" ? { ...extras.fields, ...extras.spelling } : null;
}
