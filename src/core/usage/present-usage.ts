import { formatDollars, toDollars } from "../../base/money.ts";
import { findNames, type NameStores, type Names } from "../accounts/find-names.ts";
import { createCounters } from "./day-sums.ts";
import { formatCsv } from "./format-csv.ts";
import type { UsageGroup, UsageQuery, UsageSum } from "./report.ts";

/** The dimensions of a report's lines, and the names of what their ids stand for. */
export interface UsageDimensions extends Pick<UsageQuery, "thenBy"> {
  readonly groupBy: UsageGroup;
  readonly names: Names;
}

/** Looks up the names of the keys, users and accounts of a report. Rejects with a `StoreError`. */
export function findUsageNames(
  stores: NameStores,
  query: Pick<UsageQuery, "groupBy" | "thenBy">,
  sums: readonly UsageSum[],
): Promise<Names> {
  const idOf = (sum: UsageSum, name: UsageGroup) =>
    query.groupBy === name ? sum.group : query.thenBy === name ? (sum.subgroup ?? null) : null;
  const rows = sums.map((sum) => ({
    keyId: idOf(sum, "key"),
    userId: idOf(sum, "user"),
    accountId: idOf(sum, "account"),
  }));
  return findNames(stores, rows);
}

/** Makes the API's view of a line of a report, with the names of keys, users and accounts. */
export function presentUsageLine(sum: UsageSum, dimensions: UsageDimensions): Record<string, unknown> {
  return { ...Object.fromEntries(listDimensions(sum, dimensions)), ...presentSums(sum) };
}

/** Makes the API's view of a line of a report by one dimension, which is called `name`. */
export function presentUsage(name: string, sum: UsageSum): Record<string, unknown> {
  return { [name]: sum.group, ...presentSums(sum) };
}

/** Returns the columns of a line before its sums: each dimension, and the name of what its id stands for. */
function listDimensions(
  { group, subgroup = null }: UsageSum,
  { groupBy, thenBy = null, names }: UsageDimensions,
): [string, string | null][] {
  const pairs: [UsageGroup, string | null][] = [[groupBy, group]];
  if (thenBy !== null) pairs.push([thenBy, subgroup]);
  return pairs.flatMap(([name, value]): [string, string | null][] => {
    if (name !== "key" && name !== "user" && name !== "account") return [[name, value]];
    return [
      [name, value],
      [`${name}_name`, name === "key" ? names.key(value) : names.account(value)],
    ];
  });
}

function presentSums(sum: UsageSum): Record<string, unknown> {
  return {
    requests: sum.requests,
    errors: sum.errors,
    tokens_prompt: sum.promptTokens,
    tokens_completion: sum.completionTokens,
    tokens_cached: sum.cachedTokens,
    tokens_cache_write: sum.cacheWriteTokens,
    tokens_reasoning: sum.reasoningTokens,
    cost: toDollars(sum.cost),
    cost_nanodollars: sum.cost,
    upstream_cost: toDollars(sum.upstreamCost),
    upstream_cost_nanodollars: sum.upstreamCost,
  };
}

const CSV_COLUMNS = [
  "requests",
  "errors",
  "tokens_prompt",
  "tokens_completion",
  "tokens_cached",
  "tokens_cache_write",
  "tokens_reasoning",
  "cost",
  "upstream_cost",
];

const NO_SUM: UsageSum = { group: null, ...createCounters() };

/** Formats a report as CSV; costs are US dollars with all digits. */
export function printUsageCsv(sums: readonly UsageSum[], dimensions: UsageDimensions): string {
  const rows = sums.map((sum) => [
    ...listDimensions(sum, dimensions).map(([, value]) => value ?? ""),
    sum.requests,
    sum.errors,
    sum.promptTokens,
    sum.completionTokens,
    sum.cachedTokens,
    sum.cacheWriteTokens,
    sum.reasoningTokens,
    formatDollars(sum.cost),
    formatDollars(sum.upstreamCost),
  ]);
  const names = listDimensions(NO_SUM, dimensions).map(([name]) => name);
  return formatCsv([[...names, ...CSV_COLUMNS], ...rows]);
}
