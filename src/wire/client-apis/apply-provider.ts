import type { Warning } from "../conversation/warning.ts";
import { type Fields, omit } from "../json/fields.ts";
import type { JsonNode } from "../json/scan.ts";
import type { ProviderTarget } from "./inference-request.ts";

/** The fields of a client's own body that are left out because the provider refuses them. */
export function listRejectedFields(root: JsonNode, { refusedFields }: ProviderTarget): readonly Warning[] {
  if (refusedFields.size === 0) return NO_WARNINGS;
  const refused = root.members?.filter(({ key }) => refusedFields.has(key)) ?? [];
  return refused.map(({ key: field }) => ({ field, message: REFUSED }));
}

const NO_WARNINGS: readonly Warning[] = [];
const REFUSED = "The provider refuses it; it was left out.";

/** Encrypted reasoning of earlier turns has no place in a format. */
export const LOST_REASONING: Warning = {
  field: "messages",
  message: "Encrypted reasoning of earlier turns has no place in this format.",
  isGrave: true,
};

/** A body as one provider wants it, where that departs from its format: fields spelled otherwise, left out, added. */
export function applyProvider(body: Fields, target: ProviderTarget): Fields {
  const applied: Record<string, unknown> = { ...body };
  for (const [from, to] of target.renames) {
    if (applied[from] === undefined) continue;
    applied[to] ??= applied[from];
    delete applied[from];
  }
  if (target.noStreamOptions) delete applied["stream_options"];
  for (const field of target.refusedFields) delete applied[field];
  for (const [field, value] of Object.entries(target.bodyFields)) {
    if (value === null) delete applied[field];
    else applied[field] = value;
  }
  return applied;
}

/** A body without what its provider would refuse the whole request for: all but the `known` fields. */
export function limitFields(
  body: Fields,
  known: ReadonlySet<string> | null,
): { readonly body: Fields; readonly warnings: readonly Warning[] } {
  const unknown = known === null ? [] : Object.keys(body).filter((field) => !known.has(field));
  if (unknown.length === 0) return { body, warnings: [] };
  const message = "The provider does not take it; it was left out.";
  return { body: omit(body, new Set(unknown)), warnings: unknown.map((field) => ({ field, message })) };
}
