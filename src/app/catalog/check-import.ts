import { actionOf } from "../../core/catalog/records/action-of.ts";
import type { ModelRecord, ProviderRecord } from "../../core/catalog/records/records.ts";
import { findModelProblems } from "../../core/catalog/served/validate-catalog.ts";

/** The smallest catalog that a source may have, as a share of the models that it replaces. */
const MIN_SHARE = 0.5;
const NAMED_PROBLEMS = 20;

/** Returns why the models of a source must not replace the current ones; null if they may. */
export function findImportFault(
  after: readonly ModelRecord[],
  before: readonly ModelRecord[],
  providers: readonly ProviderRecord[],
): string | null {
  if (after.length === 0) return "has no model of a known provider";
  for (const [what, count] of [
    ["models", (models: readonly ModelRecord[]) => models.length],
    ["models with a price", countPriced],
  ] as const) {
    const [old, fresh] = [count(before.filter(isFromSource)), count(after.filter(isFromSource))];
    if (fresh < old * MIN_SHARE)
      return `would leave ${fresh} of ${old} ${what}; the source is probably broken`;
  }
  const problems = findModelProblems(after, providers);
  return problems.length > 0 ? `has invalid models: ${problems.slice(0, NAMED_PROBLEMS).join("; ")}` : null;
}

/**
 * Whether a model comes from the source. Every import also adds the models of the forwarded endpoints, which do not show whether the source
 * is complete.
 */
function isFromSource(model: ModelRecord): boolean {
  const action = actionOf(model);
  return action === "chat" || action === "embeddings";
}

/** Counts the models that have a price at some provider. */
export function countPriced(models: readonly ModelRecord[]): number {
  return models.filter((model) => model.endpoints.some((endpoint) => endpoint.prices !== null)).length;
}
