import { type Fields, isEmpty, type MutableFields, omit, setField } from "../../../base/json/fields.ts";
import type { JsonNode } from "../../../base/json/scan.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { ProviderTarget } from "../request/inference-request.ts";

/** Returns warnings for fields of the client's body that are removed because the provider rejects them. */
export function listRejectedFields(
  root: JsonNode,
  { refusedFields, storingFields }: ProviderTarget,
): readonly Warning[] {
  if (refusedFields.size === 0 || root.members === null) return NO_WARNINGS;
  let warnings: Warning[] | null = null;
  for (const { key: field } of root.members) {
    const isStoring = storingFields?.has(field) === true;
    if (!isStoring && !refusedFields.has(field)) continue;
    warnings ??= [];
    warnings.push({ field, message: isStoring ? STORES : REJECTED });
  }
  return warnings ?? NO_WARNINGS;
}

const NO_WARNINGS: readonly Warning[] = [];
const NONE: readonly string[] = [];
const REJECTED = "The provider rejects it; it was left out.";
const STORES = "It asks the provider to store data; it was left out, because of zero data retention.";

/** Returns warnings for the fields of a body that are left out under zero data retention. */
export function warnOfStoring(
  fields: Iterable<string>,
  { storingFields }: ProviderTarget,
): readonly Warning[] {
  if (storingFields === undefined) return NO_WARNINGS;
  return [...fields].filter((field) => storingFields.has(field)).map((field) => ({ field, message: STORES }));
}

/** Returns warnings for the fields of an encoded body that are left out because the provider rejects them. */
export function warnOfRefused(
  fields: Iterable<string>,
  { refusedFields, storingFields }: ProviderTarget,
): readonly Warning[] {
  if (refusedFields.size === 0) return NO_WARNINGS;
  return [...fields]
    .filter((field) => refusedFields.has(field))
    .map((field) => ({ field, message: storingFields?.has(field) === true ? STORES : REJECTED }));
}

/** The warning where the format cannot carry encrypted reasoning of earlier turns. */
export const LOST_REASONING: Warning = {
  field: "messages",
  message: "This format cannot carry encrypted reasoning of earlier turns.",
  isGrave: true,
};

/** Adapts a body to a provider that deviates from its format: renames, removes and adds fields. */
export function applyProvider(body: Fields, target: ProviderTarget): Fields {
  if (isPlain(target)) return body;
  const applied: Record<string, unknown> = { ...body };
  renameFields(applied, target.renames);
  if (target.noStreamOptions) delete applied["stream_options"];
  for (const field of target.refusedFields) delete applied[field];
  if (target.sendsStoreFalse === true) applied["store"] = false;
  for (const [field, value] of Object.entries(target.bodyFields)) {
    if (value === null) delete applied[field];
    else setField(applied, field, value);
  }
  return applied;
}

/** Gives fields the names that the provider has for them, such as `random_seed` for `seed`. A field that is present under both keeps the provider's. */
export function renameFields(fields: MutableFields, renames: ProviderTarget["renames"]): void {
  for (const [from, to] of renames) {
    if (fields[from] === undefined) continue;
    setField(fields, to, fields[to] ?? fields[from]);
    delete fields[from];
  }
}

/** Whether nothing of a body has to change for the provider. */
function isPlain({ renames, noStreamOptions, refusedFields, bodyFields }: ProviderTarget): boolean {
  return renames.length === 0 && !noStreamOptions && refusedFields.size === 0 && isEmpty(bodyFields);
}

/** Removes all but the `known` fields, for a provider that would reject the whole request for any other. */
export function limitFields(
  body: Fields,
  known: ReadonlySet<string> | null,
): { readonly body: Fields; readonly warnings: readonly Warning[] } {
  const unknown = known === null ? NONE : Object.keys(body).filter((field) => !known.has(field));
  if (unknown.length === 0) return { body, warnings: NO_WARNINGS };
  const message = "The provider does not support it; it was left out.";
  return { body: omit(body, new Set(unknown)), warnings: unknown.map((field) => ({ field, message })) };
}
