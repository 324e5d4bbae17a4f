import { formatDollars, toDollars } from "../../../base/numbers/money.ts";
import { nextTurn } from "../../../base/time/next-turn.ts";
import { findNames, type NameStores, type Names } from "../../accounts/stores/find-names.ts";
import type { PricingRules } from "../../catalog/prices/pricing-rules.ts";
import type { TimedUsageSum } from "./add-percentiles.ts";
import { formatCsv } from "./format-csv.ts";
import type { UsageGroup, UsageQuery, UsageSum } from "./report.ts";
import { marginOfSum } from "./usage-sums.ts";

/** How the lines of a report are shown: their dimensions, the names for their ids, and who reads them. */
interface UsageView extends Pick<UsageQuery, "groups"> {
  readonly names: Names;
  /** Also what providers bill to the operator, and the margin. */
  readonly isForOperator: boolean;
}

/** Looks up the names of the keys, users, teams and accounts of a report. Rejects with a `StoreError`. */
export function findUsageNames(
  stores: NameStores,
  { groups }: Pick<UsageQuery, "groups">,
  sums: readonly UsageSum[],
): Promise<Names> {
  const idOf = (sum: UsageSum, name: UsageGroup) => sum.groups[groups.indexOf(name)] ?? null;
  const rows = sums.map((sum) => ({
    keyId: idOf(sum, "key"),
    userId: idOf(sum, "user"),
    teamId: idOf(sum, "team"),
    accountId: idOf(sum, "account"),
  }));
  return findNames(stores, rows);
}

/**
 * Returns the sums of a report for a caller that is not the operator. If there are pricing rules, the paid amounts replace the list prices,
 * which would reveal the operator's margin.
 */
export function hideListPrices<Sum extends UsageSum>(
  sums: readonly Sum[],
  rules: PricingRules,
): readonly Sum[] {
  return rules.areInForce ? sums.map((sum) => ({ ...sum, upstreamCost: sum.cost })) : sums;
}

/** Lines that are presented before other events are processed. */
const SLICE = 250;

/** Makes the API's view of the lines of a report, with the names of keys, users, teams and accounts. Other events are processed in between. */
export async function presentUsageLines(
  sums: readonly TimedUsageSum[],
  view: UsageView,
): Promise<readonly Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = [];
  for (const [at, sum] of sums.entries()) {
    if (at % SLICE === SLICE - 1) await nextTurn();
    lines.push(presentUsageLine(sum, view));
  }
  return lines;
}

function presentUsageLine(sum: TimedUsageSum, view: UsageView): Record<string, unknown> {
  return {
    ...Object.fromEntries(listDimensions(sum.groups, view)),
    ...presentSums(sum),
    ...presentMargin(sum, view),
    latency_ms: sum.latency,
    duration_ms: sum.duration,
  };
}

/** Makes the API's view of a line of a report by one dimension, named `name`. */
export function presentUsage(name: string, sum: UsageSum): Record<string, unknown> {
  return { [name]: sum.groups[0] ?? null, ...presentSums(sum) };
}

/** Returns the columns of a line before its sums: each dimension, and the name for its id. */
function listDimensions(values: UsageSum["groups"], { groups, names }: UsageView): [string, string | null][] {
  return groups.flatMap((name, at): [string, string | null][] => {
    const value = values[at] ?? null;
    if (name !== "key" && name !== "user" && name !== "team" && name !== "account") return [[name, value]];
    const find = name === "user" ? names.account : names[name];
    return [
      [name, value],
      [`${name}_name`, find(value)],
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
    cache_saved: toDollars(sum.cacheSaved),
    cache_saved_nanodollars: sum.cacheSaved,
    answers_saved: toDollars(sum.answersSaved),
    answers_saved_nanodollars: sum.answersSaved,
  };
}

/** Returns what providers bill to the operator, and the margin; null for all but the operator. */
function presentMargin(sum: UsageSum, { isForOperator }: UsageView): Record<string, unknown> {
  const billed = isForOperator ? sum.upstreamCost - sum.byokUpstreamCost : null;
  const margin = isForOperator ? marginOfSum(sum) : null;
  return {
    provider_cost: billed === null ? null : toDollars(billed),
    provider_cost_nanodollars: billed,
    margin: margin === null ? null : toDollars(margin),
    margin_nanodollars: margin,
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
  ...listPercentiles("latency_ms"),
  ...listPercentiles("duration_ms"),
  "cache_saved",
  "answers_saved",
];

function listPercentiles(name: string): readonly string[] {
  return ["p50", "p90", "p99"].map((percentile) => `${name}_${percentile}`);
}

/** The columns that only the operator gets. They come last, so that the others have the same positions for everyone. */
const OPERATOR_COLUMNS = ["provider_cost", "margin"];

/** Formats a report as CSV; costs are US dollars with all digits. */
export function printUsageCsv(sums: readonly TimedUsageSum[], view: UsageView): string {
  const rows = sums.map((sum) => [
    ...listDimensions(sum.groups, view).map(([, value]) => value ?? ""),
    sum.requests,
    sum.errors,
    sum.promptTokens,
    sum.completionTokens,
    sum.cachedTokens,
    sum.cacheWriteTokens,
    sum.reasoningTokens,
    formatDollars(sum.cost),
    formatDollars(sum.upstreamCost),
    ...[sum.latency, sum.duration].flatMap((times) => [times?.p50 ?? "", times?.p90 ?? "", times?.p99 ?? ""]),
    formatDollars(sum.cacheSaved),
    formatDollars(sum.answersSaved),
    ...(view.isForOperator
      ? [formatDollars(sum.upstreamCost - sum.byokUpstreamCost), formatDollars(marginOfSum(sum))]
      : []),
  ]);
  const names = listDimensions([], view).map(([name]) => name);
  return formatCsv([[...names, ...CSV_COLUMNS, ...(view.isForOperator ? OPERATOR_COLUMNS : [])], ...rows]);
}
