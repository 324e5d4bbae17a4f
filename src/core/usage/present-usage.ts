import { formatDollars, toDollars } from "../../base/money.ts";
import { formatCsv } from "./format-csv.ts";
import type { UsageGroup, UsageSum } from "./report.ts";

/** Makes the API's view of a line of a report. `name` is the name of the dimension that it is grouped by. */
export function presentUsage(name: string, sum: UsageSum): Record<string, unknown> {
  return {
    [name]: sum.group,
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

/** Formats a report as CSV; costs are US dollars with all digits. */
export function printUsageCsv(groupBy: UsageGroup, sums: readonly UsageSum[]): string {
  const rows = sums.map((sum) => [
    sum.group ?? "",
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
  return formatCsv([[groupBy, ...CSV_COLUMNS], ...rows]);
}
