import type { ModelRecord, ProviderRecord } from "../core/catalog/records.ts";
import { findModelProblems } from "../core/catalog/validate-catalog.ts";

/** A new catalog may have this much fewer models than the one it replaces, as a share; less is a broken source. */
const LEAST_SHARE = 0.5;
const NAMED_PROBLEMS = 20;

/** Why what a source gave must not take the place of what there is; null where it may. */
export function findImportFault(
  after: readonly ModelRecord[],
  before: readonly ModelRecord[],
  providers: readonly ProviderRecord[],
): string | null {
  if (after.length === 0) return "has no model of a provider we know";
  for (const [what, count] of [
    ["models", (models: readonly ModelRecord[]) => models.length],
    ["models with a price", countPriced],
  ] as const) {
    const [old, fresh] = [count(before), count(after)];
    if (fresh < old * LEAST_SHARE)
      return `would leave ${fresh} of ${old} ${what}; that is no update but a broken list`;
  }
  const problems = findModelProblems(after, providers);
  return problems.length > 0
    ? `gives a faulty catalog: ${problems.slice(0, NAMED_PROBLEMS).join("; ")}`
    : null;
}

/** How many models somebody deployments at a price. */
export function countPriced(models: readonly ModelRecord[]): number {
  return models.filter((model) => model.endpoints.some((endpoint) => endpoint.prices !== null)).length;
}
