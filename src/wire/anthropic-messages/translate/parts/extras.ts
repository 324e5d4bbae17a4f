import type { Fields } from "../../../../base/json/fields.ts";
import { createFormatExtras } from "../../../canonical/model/format-extras.ts";
import type { Extras } from "../../../canonical/model/parts.ts";
import type { FormatName } from "../../../conversation/traits/format-name.ts";

/** The name of this format. */
export const FORMAT: FormatName = "anthropic-messages";

/** Read the extras that this format wrote. */
export const { isOwn, keptFields } = createFormatExtras(FORMAT);

/** Returns extras to spread into what this format decoded. They may be empty: their presence distinguishes blocks from plain strings. */
export function makeExtras(fields: Fields): { readonly extras: Extras } {
  return { extras: { format: FORMAT, fields } };
}
