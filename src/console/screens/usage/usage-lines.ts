/** Sums and comparisons of usage. Pure functions. */
import type { UsageLine } from "../../api/schema.ts";
import { type Dimension, isTime, type Metric, type TimeMetric } from "./usage-view.ts";

/** The percentiles of a time in milliseconds. */
export const PERCENTILES = ["p50", "p90", "p99"] as const;
type Percentile = (typeof PERCENTILES)[number];

const SUMMED = [
  "requests",
  "errors",
  "tokens_prompt",
  "tokens_completion",
  "tokens_cached",
  "cost_nanodollars",
  "upstream_cost_nanodollars",
  "cache_saved_nanodollars",
  "answers_saved_nanodollars",
] as const;

/** The sum of lines. Costs are nanodollars. */
export type UsageTotal = Readonly<Record<(typeof SUMMED)[number], number>>;

/** Adds lines up. */
export function sumLines(lines: readonly UsageTotal[]): UsageTotal {
  const total = Object.fromEntries(SUMMED.map((name) => [name, 0])) as Record<
    (typeof SUMMED)[number],
    number
  >;
  for (const line of lines) for (const name of SUMMED) total[name] += line[name];
  return total;
}

/** Returns what is left of what accounts paid in some lines, after the providers are paid, in nanodollars; null for all but the operator. */
export function sumMargins(lines: readonly Pick<UsageLine, "margin_nanodollars">[]): number | null {
  return lines.reduce<number | null>(
    (sum, { margin_nanodollars: margin }) => (sum === null || margin === null ? null : sum + margin),
    0,
  );
}

/** Returns the share of prompt tokens that the provider had cached; null without prompt tokens. */
export function cachedShare(line: UsageTotal): number | null {
  return line.tokens_prompt === 0 ? null : line.tokens_cached / line.tokens_prompt;
}

/** Returns the share of requests that failed; null without requests. */
export function errorShare(line: UsageTotal): number | null {
  return line.requests === 0 ? null : line.errors / line.requests;
}

/** Metrics that are sums, or shares of them. */
type SumMetric = Exclude<Metric, TimeMetric>;

/** Returns the number that a metric draws for a line; null if there is none. */
export function metricOf(line: UsageTotal, metric: SumMetric): number | null {
  if (metric === "cost") return line.cost_nanodollars;
  if (metric === "tokens") return line.tokens_prompt + line.tokens_completion;
  if (metric === "cached") return cachedShare(line);
  return metric === "errors" ? line.errors : line.requests;
}

/** Returns a percentile of a time of a line; null if none of its requests has a time. */
export function timeOf(line: UsageLine, metric: TimeMetric, percentile: Percentile): number | null {
  const times = metric === "latency" ? line.latency_ms : line.duration_ms;
  return times?.[percentile] ?? null;
}

/** The day or the hour of a line. */
function stepOf({ day, hour }: UsageLine): string | null {
  return hour ?? day ?? null;
}

/** Returns the lines of all days or hours but one. */
export function withoutStep(lines: readonly UsageLine[], step: string | undefined): readonly UsageLine[] {
  return lines.filter((line) => stepOf(line) !== step);
}

/** Returns a value for each day or hour: of its line, or `absent` without one. */
export function valuesBy(
  lines: readonly UsageLine[],
  steps: readonly string[],
  { read, absent }: { readonly read: (line: UsageLine) => number | null; readonly absent: number | null },
): readonly (number | null)[] {
  const byStep = new Map(lines.map((line) => [stepOf(line), line]));
  return steps.map((step) => {
    const line = byStep.get(step);
    return line === undefined ? absent : read(line);
  });
}

/**
 * Returns the values of a metric for each day or hour. Without a line the value is 0, or null if the metric is a share or a time. For a
 * time, it is the 90th percentile.
 */
export function valuesByStep(
  lines: readonly UsageLine[],
  steps: readonly string[],
  metric: Metric,
): readonly (number | null)[] {
  if (isTime(metric))
    return valuesBy(lines, steps, { read: (line) => timeOf(line, metric, "p90"), absent: null });
  return valuesBy(lines, steps, {
    read: (line) => metricOf(line, metric),
    absent: metric === "cached" ? null : 0,
  });
}

/** The maximum number of groups with a line of their own. */
const MAX_GROUPS = 5;

/** A group's values of a metric by day or hour; without an id all other groups together. */
interface GroupValues {
  readonly id: string | null;
  readonly name: string | null;
  readonly isRest: boolean;
  readonly values: readonly (number | null)[];
}

/**
 * Returns the values of the largest groups, and of all others together. `cells` has a line for each day or hour and group. Groups
 * without any of the metric are left out, as are the others of a time: percentiles of several groups do not add up.
 */
export function valuesByGroup(
  cells: readonly UsageLine[],
  steps: readonly string[],
  { by, metric }: { readonly by: Dimension; readonly metric: Metric },
): readonly GroupValues[] {
  const sizeOf = (lines: readonly UsageLine[]) => metricOf(sumLines(lines), SIZES[metric]) ?? 0;
  const sorted = [...Map.groupBy(cells, (line) => idOf(line, by))]
    .map(([id, lines]) => ({ id, lines, size: sizeOf(lines) }))
    .filter(({ size }) => size > 0)
    .toSorted((a, b) => b.size - a.size);
  const shown = sorted.slice(0, MAX_GROUPS).map(({ id, lines }) => ({
    id,
    name: lines[0] === undefined ? null : nameOf(lines[0], by),
    isRest: false,
    values: valuesByStep(lines, steps, metric),
  }));
  const rest = sorted.slice(MAX_GROUPS).flatMap(({ lines }) => lines);
  if (rest.length === 0 || isTime(metric)) return shown;
  return [...shown, { id: null, name: null, isRest: true, values: valuesOfRest(rest, steps, metric) }];
}

/** The metric by which groups are sorted, by the metric that is drawn. */
const SIZES: Readonly<Record<Metric, SumMetric>> = {
  cost: "cost",
  requests: "requests",
  errors: "errors",
  tokens: "tokens",
  cached: "tokens",
  latency: "requests",
  duration: "requests",
};

function valuesOfRest(
  lines: readonly UsageLine[],
  steps: readonly string[],
  metric: SumMetric,
): readonly (number | null)[] {
  const byStep = Map.groupBy(lines, stepOf);
  return steps.map((step) => metricOf(sumLines(byStep.get(step) ?? []), metric));
}

/** Returns the costs by day or hour of each group, by its id. */
export function trendsOf(
  cells: readonly UsageLine[],
  steps: readonly string[],
  by: Dimension,
): ReadonlyMap<string | null, readonly number[]> {
  const groups = Map.groupBy(cells, (line) => idOf(line, by));
  return new Map(
    [...groups].map(([id, lines]) => [id, valuesByStep(lines, steps, "cost").map((value) => value ?? 0)]),
  );
}

/** Returns the change from `before` to `after` as a share of `before`; null if there was nothing before. */
export function changeOf(before: number | null, after: number | null): number | null {
  return before === null || after === null || before === 0 ? null : (after - before) / before;
}

/** Returns the id of a line's group; null for requests without one. */
export function idOf(line: UsageLine, by: Dimension): string | null {
  return line[by] || null;
}

/** Returns the name of a line's group; null if the report names it only by its id. */
export function nameOf(line: UsageLine, by: Dimension): string | null {
  if (by === "key") return line.key_name ?? null;
  if (by === "user") return line.user_name ?? null;
  if (by === "team") return line.team_name ?? null;
  return by === "account" ? (line.account_name ?? null) : null;
}
