import type { Extras } from "../../canonical/parts.ts";
import type { FormatName } from "../../conversation/format-name.ts";
import type { Fields } from "../../json/fields.ts";

/** This format's name in the hub. */
export const FORMAT: FormatName = "anthropic-messages";

interface HasExtras {
  readonly extras?: Extras;
}

/** Fields to keep for this format alone. */
export function makeExtras(fields: Fields): { readonly extras: Extras } {
  return { extras: { format: FORMAT, fields } };
}

/** Whether this format read it. */
export function isOwn(thing: HasExtras): boolean {
  return thing.extras?.format === FORMAT;
}

const NONE: Fields = {};

/** What this format kept of it; nothing where another read it. */
export function ownFields(thing: HasExtras): Fields {
  return thing.extras?.format === FORMAT ? thing.extras.fields : NONE;
}
