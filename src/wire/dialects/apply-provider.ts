import type { Fields } from "../json/fields.ts";
import type { ProviderTarget } from "./inference-request.ts";

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
