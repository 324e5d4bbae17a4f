import { formatDay } from "../../base/time.ts";
import type { DaySum, DaySumKey, UsageCounters } from "../../core/usage/day-sums.ts";
import { mostLinesOf, type UsageGroup, type UsageQuery, type UsageSum } from "../../core/usage/report.ts";
import { encodeList, type SqlRunner, type SqlValue } from "./client.ts";
import { cleanText, readInteger } from "./values.ts";

const KEY_COLUMNS: Readonly<Record<keyof DaySumKey, string>> = {
  day: "day",
  accountId: "account_id",
  keyId: "key_id",
  userId: "user_id",
  model: "model",
  provider: "provider",
};

const COUNTER_COLUMNS: Readonly<Record<keyof UsageCounters, string>> = {
  requests: "requests",
  errors: "errors",
  promptTokens: "prompt_tokens",
  completionTokens: "completion_tokens",
  cachedTokens: "cached_tokens",
  cacheWriteTokens: "cache_write_tokens",
  reasoningTokens: "reasoning_tokens",
  cost: "cost",
  upstreamCost: "upstream_cost",
};

const KEYS = Object.keys(KEY_COLUMNS) as (keyof DaySumKey)[];
const COUNTERS = Object.keys(COUNTER_COLUMNS) as (keyof UsageCounters)[];

/** Adds sums to the stored sums of their days, in the transaction of the caller. */
export async function raiseDays(sql: SqlRunner, sums: readonly DaySum[]): Promise<void> {
  // In one order, so that two transactions that raise the same sums wait for each other and cannot block each other.
  const ordered = sums
    .map(({ key, counters }) => ({ name: KEYS.map((name) => key[name]).join("\n"), key, counters }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const keys = KEYS.map((name) => encodeList(ordered.map(({ key }) => cleanKey(key[name]))));
  const counters = COUNTERS.map((name) => encodeList(ordered.map((sum) => sum.counters[name])));
  await sql.run(RAISE, [...keys, ...counters]);
}

function cleanKey(value: string | number): string | number {
  return typeof value === "string" ? cleanText(value) : value;
}

const RAISE = (() => {
  const keys = Object.values(KEY_COLUMNS);
  const counters = Object.values(COUNTER_COLUMNS);
  const columns = [...keys, ...counters];
  const typeOf = (name: string) => (name === "day" ? "integer" : keys.includes(name) ? "text" : "bigint");
  const lists = columns.map((name, at) => `$${at + 1}::text::${typeOf(name)}[]`);
  return `INSERT INTO usage_days AS sums (${columns.join(", ")}) SELECT * FROM unnest(${lists.join(", ")})
    ON CONFLICT (account_id, day, key_id, user_id, model, provider)
    DO UPDATE SET ${counters.map((name) => `${name} = sums.${name} + excluded.${name}`).join(", ")}`;
})();

type ReportRow = Readonly<Record<keyof UsageCounters, string>> & {
  readonly group_value: string | number;
  readonly subgroup_value: string | number | null;
};

/** Computes a usage report. */
export async function reportUsage(sql: SqlRunner, query: UsageQuery): Promise<readonly UsageSum[]> {
  const { text, values } = describeReport(query);
  const rows = await sql.run<ReportRow>(text, values);
  return rows.map((row) => ({
    group: readGroup(query.groupBy, row.group_value),
    ...(query.thenBy == null ? {} : { subgroup: readGroup(query.thenBy, row.subgroup_value) }),
    ...readCounters(row),
  }));
}

function readGroup(name: UsageGroup, value: string | number | null): string | null {
  return name === "day" ? formatDay(Number(value)) : String(value ?? "") || null;
}

function readCounters(row: ReportRow): UsageCounters {
  return Object.fromEntries(
    COUNTERS.map((name) => [name, readInteger(row[name])]),
  ) as unknown as UsageCounters;
}

/** Returns the statement of a report. Its text contains only column names, never values. */
export function describeReport(query: UsageQuery) {
  const { groupBy, thenBy, fromDay, toDay, ...scope } = query;
  const column = GROUP_COLUMNS[groupBy];
  const subcolumn = thenBy == null ? null : GROUP_COLUMNS[thenBy];
  const values: SqlValue[] = [fromDay, toDay];
  const conditions = ["day BETWEEN $1 AND $2"];
  for (const name of ["accountId", "userId", "keyId", "model", "provider"] as const) {
    const value = scope[name] ?? null;
    if (value === null) continue;
    values.push(value);
    conditions.push(`${KEY_COLUMNS[name]} = $${values.length}`);
  }
  const sums = COUNTERS.map((name) => `sum(${COUNTER_COLUMNS[name]}) AS "${name}"`).join(", ");
  // Days are in order, other groups by cost.
  const hasDays = groupBy === "day" || thenBy === "day";
  const order = hasDays ? "group_value, subgroup_value" : "sum(cost) DESC, sum(requests) DESC, group_value";
  const text = `SELECT ${column} AS group_value, ${subcolumn ?? "NULL"} AS subgroup_value, ${sums} FROM usage_days
    WHERE ${conditions.join(" AND ")} GROUP BY ${subcolumn === null ? column : `${column}, ${subcolumn}`}
    ORDER BY ${order} LIMIT ${mostLinesOf(query) ?? "ALL"}`;
  return { text, values };
}

const GROUP_COLUMNS: Readonly<Record<UsageGroup, string>> = {
  day: "day",
  model: "model",
  provider: "provider",
  key: "key_id",
  user: "user_id",
  account: "account_id",
};
