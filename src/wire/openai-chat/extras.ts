import type { Extras } from "../canonical/parts.ts";
import { type Fields, isEmpty } from "../json/fields.ts";

/** What this format keeps beside a thing of the hub, as a member to spread; nothing where there is nothing to keep. */
export function keepExtras(fields: Fields, spelling: Fields = {}): { readonly extras?: Extras } {
  const isSpelled = !isEmpty(spelling);
  if (!isSpelled && isEmpty(fields)) return NOTHING;
  return { extras: { format: "openai-chat", fields, ...(isSpelled ? { spelling } : {}) } };
}

const NOTHING = {};

/** The thing with what this format keeps beside it; itself where that is nothing, as mostly. */
export function withExtras<T extends { readonly extras?: Extras }>(
  thing: T,
  fields: Fields,
  spelling: Fields = {},
): T {
  const kept = keepExtras(fields, spelling);
  return kept === NOTHING ? thing : { ...thing, ...kept };
}

/** Unknown fields that this format kept; none of another's. */
export function keptFields({ extras }: { readonly extras?: Extras }): Fields {
  return extras?.format === "openai-chat" ? extras.fields : {};
}

/** Spellings that this format kept; none of another's. */
export function keptSpelling({ extras }: { readonly extras?: Extras }): Fields {
  return (extras?.format === "openai-chat" ? extras.spelling : undefined) ?? {};
}
