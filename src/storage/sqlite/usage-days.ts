import type { Database } from "bun:sqlite";
import { formatDay } from "../../base/time.ts";
import type { DaySum, DaySumKey, UsageCounters } from "../../core/usage/day-sums.ts";
import { mostLinesOf, type UsageGroup, type UsageQuery, type UsageSum } from "../../core/usage/report.ts";

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

type ReportRow = UsageCounters & { group_value: string | number; subgroup_value: string | number | null };

/** The table `usage_days`. */
export class UsageDays {
  private readonly raise;

  constructor(private readonly database: Database) {
    const counters = Object.values(COUNTER_COLUMNS);
    const columns = [...Object.values(KEY_COLUMNS), ...counters];
    this.raise = database.query(
      `INSERT INTO usage_days (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
       ON CONFLICT DO UPDATE SET ${counters.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`,
    );
  }

  /** Adds sums to the stored sums of their days. The caller begins and commits the transaction. */
  add(sums: readonly DaySum[]): void {
    for (const { key, counters } of sums)
      this.raise.run(...KEYS.map((name) => key[name]), ...COUNTERS.map((name) => counters[name]));
  }

  report(query: UsageQuery): readonly UsageSum[] {
    const { text, values } = reportStatement(query);
    const rows = this.database.query<ReportRow, (string | number)[]>(text).all(...values);
    return rows.map(({ group_value, subgroup_value, ...counters }) => ({
      group: readGroup(query.groupBy, group_value),
      ...(query.thenBy == null ? {} : { subgroup: readGroup(query.thenBy, subgroup_value) }),
      ...counters,
    }));
  }
}

function readGroup(name: UsageGroup, value: string | number | null): string | null {
  return name === "day" ? formatDay(Number(value)) : String(value ?? "") || null;
}

/** Returns the SQL statement of a report. Its text contains only column names, never values. */
export function reportStatement(query: UsageQuery) {
  const { groupBy, thenBy, fromDay, toDay, ...scope } = query;
  const column = GROUP_COLUMNS[groupBy];
  const subcolumn = thenBy == null ? null : GROUP_COLUMNS[thenBy];
  const values: (string | number)[] = [fromDay, toDay];
  const conditions = ["day BETWEEN ? AND ?"];
  for (const name of ["accountId", "userId", "keyId", "model", "provider"] as const) {
    const value = scope[name] ?? null;
    if (value === null) continue;
    conditions.push(`${KEY_COLUMNS[name]} = ?`);
    values.push(value);
  }
  const sums = COUNTERS.map((name) => `sum(${COUNTER_COLUMNS[name]}) AS ${name}`).join(", ");
  // Days are in order, other groups by cost.
  const hasDays = groupBy === "day" || thenBy === "day";
  const order = hasDays ? "group_value, subgroup_value" : "cost DESC, requests DESC, group_value";
  const text = `SELECT ${column} AS group_value, ${subcolumn} AS subgroup_value, ${sums} FROM usage_days
    WHERE ${conditions.join(" AND ")} GROUP BY ${subcolumn === null ? column : `${column}, ${subcolumn}`}
    ORDER BY ${order} LIMIT ${mostLinesOf(query) ?? -1}`;
  return { text, values };
}

const GROUP_COLUMNS: Readonly<Record<UsageQuery["groupBy"], string>> = {
  day: "day",
  model: "model",
  provider: "provider",
  key: "key_id",
  user: "user_id",
  account: "account_id",
};
