import type { Extras } from "../canonical/parts.ts";
import type { Fields } from "../json/fields.ts";

/** What this format keeps beside a thing of the hub, as a member to spread; nothing where there is nothing to keep. */
export function keepExtras(fields: Fields, spelling: Fields = {}): { readonly extras?: Extras } {
  const isSpelled = Object.keys(spelling).length > 0;
  if (!isSpelled && Object.keys(fields).length === 0) return {};
  return { extras: { format: "openai-chat", fields, ...(isSpelled ? { spelling } : {}) } };
}

/** Unknown fields that this format kept; none of another's. */
export function keptFields({ extras }: { readonly extras?: Extras }): Fields {
  return extras?.format === "openai-chat" ? extras.fields : {};
}

/** Spellings that this format kept; none of another's. */
export function keptSpelling({ extras }: { readonly extras?: Extras }): Fields {
  return (extras?.format === "openai-chat" ? extras.spelling : undefined) ?? {};
}
