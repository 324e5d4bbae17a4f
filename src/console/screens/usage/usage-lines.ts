/** Sums and comparisons of usage. Pure functions. */
import type { Schemas } from "../../api/schema.ts";
import type { Dimension, Metric } from "./usage-view.ts";

/** The percentiles of a duration in milliseconds. */
export interface Spread {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/** A line of a usage report. Names and percentiles are absent where the report has none. */
export type UsageLine = Schemas["UsageLine"] & {
  readonly latency_ms?: Spread | null;
  readonly duration_ms?: Spread | null;
};

const SUMMED = [
  "requests",
  "errors",
  "tokens_prompt",
  "tokens_completion",
  "tokens_cached",
  "cost_nanodollars",
  "upstream_cost_nanodollars",
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

/** Returns the share of prompt tokens that the provider had cached; null without prompt tokens. */
export function cachedShare(line: UsageTotal): number | null {
  return line.tokens_prompt === 0 ? null : line.tokens_cached / line.tokens_prompt;
}

/** Returns the share of requests that failed; null without requests. */
export function errorShare(line: UsageTotal): number | null {
  return line.requests === 0 ? null : line.errors / line.requests;
}

/** Returns the number that a metric draws for a line; null if there is none. */
export function metricOf(line: UsageTotal, metric: Metric): number | null {
  if (metric === "cost") return line.cost_nanodollars;
  if (metric === "tokens") return line.tokens_prompt + line.tokens_completion;
  if (metric === "cached") return cachedShare(line);
  return metric === "errors" ? line.errors : line.requests;
}

/** Returns the values of a metric for each day. A day without a line has 0, or null if the metric is a share. */
export function valuesByDay(
  lines: readonly UsageLine[],
  days: readonly string[],
  metric: Metric,
): readonly (number | null)[] {
  const byDay = new Map(lines.map((line) => [line.day, line]));
  return days.map((day) => {
    const line = byDay.get(day);
    if (line === undefined) return metric === "cached" ? null : 0;
    return metricOf(line, metric);
  });
}

/** The most groups that have a line of their own. */
const MOST_GROUPS = 5;

/** A group's values of a metric by day; without an id all other groups together. */
export interface GroupValues {
  readonly id: string | null;
  readonly name: string | null;
  readonly isRest: boolean;
  readonly values: readonly (number | null)[];
}

/** Returns the values by day of the largest groups, and of all others together. `cells` has a line for each day and group. */
export function valuesByGroup(
  cells: readonly UsageLine[],
  days: readonly string[],
  { by, metric }: { readonly by: Dimension; readonly metric: Metric },
): readonly GroupValues[] {
  const groups = [...Map.groupBy(cells, (line) => idOf(line, by))].map(([id, lines]) => ({ id, lines }));
  const sizeOf = (lines: readonly UsageLine[]) =>
    metricOf(sumLines(lines), metric === "cached" ? "tokens" : metric) ?? 0;
  const sorted = groups.toSorted((a, b) => sizeOf(b.lines) - sizeOf(a.lines));
  const shown = sorted.slice(0, MOST_GROUPS).map(({ id, lines }) => ({
    id,
    name: lines[0] === undefined ? null : nameOf(lines[0], by),
    isRest: false,
    values: valuesByDay(lines, days, metric),
  }));
  const rest = sorted.slice(MOST_GROUPS).flatMap(({ lines }) => lines);
  if (rest.length === 0) return shown;
  return [...shown, { id: null, name: null, isRest: true, values: valuesOfRest(rest, days, metric) }];
}

function valuesOfRest(
  lines: readonly UsageLine[],
  days: readonly string[],
  metric: Metric,
): readonly (number | null)[] {
  const byDay = Map.groupBy(lines, ({ day }) => day);
  return days.map((day) => metricOf(sumLines(byDay.get(day) ?? []), metric));
}

/** Returns the values by day of each group, by its id. */
export function trendsOf(
  cells: readonly UsageLine[],
  days: readonly string[],
  by: Dimension,
): ReadonlyMap<string | null, readonly number[]> {
  const groups = Map.groupBy(cells, (line) => idOf(line, by));
  return new Map(
    [...groups].map(([id, lines]) => [id, valuesByDay(lines, days, "cost").map((value) => value ?? 0)]),
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
  return by === "account" ? (line.account_name ?? null) : null;
}
