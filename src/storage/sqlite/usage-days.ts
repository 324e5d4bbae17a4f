import type { Database } from "bun:sqlite";
import { dayOf, formatDay } from "../../base/days.ts";
import type { AdvisorRecord, UsageRecord } from "../../core/usage/records.ts";
import type { UsageQuery, UsageSum } from "../../core/usage/report.ts";

/** What generations came to, day by day. */
export interface UsageDays {
  /** Counts generations that have ended, each once; within a transaction that the caller has opened. */
  add(ended: readonly UsageRecord[]): void;
  sum(query: UsageQuery): readonly UsageSum[];
}

const NAMES = ["account_id", "key_id", "user_id", "model", "provider"] as const;
const COUNTERS = [
  "requests",
  "errors",
  "prompt_tokens",
  "completion_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "cost",
  "upstream_cost",
] as const;

type Counters = Record<(typeof COUNTERS)[number], number>;
type Row = Counters & { group_value: string | number };

/** The statements by which generations are counted and reports made. */
export function prepareUsageDays(database: Database): UsageDays {
  const columns = ["day", ...NAMES, ...COUNTERS];
  const raise = database.query(
    `INSERT INTO usage_days (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
     ON CONFLICT DO UPDATE SET ${COUNTERS.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`,
  );
  return {
    add(ended) {
      for (const { names, counters } of gather(ended)) {
        raise.run(...names, ...COUNTERS.map((name) => counters[name]));
      }
    },
    sum(query) {
      const { text, values } = describeReport(query);
      return database
        .query<Row, (string | number)[]>(text)
        .all(...values)
        .map((row) => readRow(row, query));
    },
  };
}

/** A report as a statement: only columns of the table's own stand in its text. */
export function describeReport({ groupBy, fromDay, toDay, ...whose }: UsageQuery) {
  const column = groupBy === "day" ? "day" : COLUMN_OF[groupBy];
  const values: (string | number)[] = [fromDay, toDay];
  const conditions = ["day BETWEEN ? AND ?"];
  for (const name of ["accountId", "userId", "keyId"] as const) {
    const value = whose[name];
    if (value === null) continue;
    conditions.push(`${WHOSE[name]} = ?`);
    values.push(value);
  }
  const sums = COUNTERS.map((name) => `sum(${name}) AS ${name}`).join(", ");
  // What cost most comes first; days come in their order.
  const order = groupBy === "day" ? "group_value" : "cost DESC, requests DESC, group_value";
  const text = `SELECT ${column} AS group_value, ${sums} FROM usage_days
    WHERE ${conditions.join(" AND ")} GROUP BY ${column} ORDER BY ${order}`;
  return { text, values };
}

const WHOSE = { accountId: "account_id", userId: "user_id", keyId: "key_id" } as const;

const COLUMN_OF = {
  model: "model",
  provider: "provider",
  key: "key_id",
  user: "user_id",
  account: "account_id",
} as const;

interface Gathered {
  readonly names: readonly (string | number)[];
  readonly counters: Counters;
}

/** One row an account, key, model and day, however many generations. */
function gather(ended: readonly UsageRecord[]): Iterable<Gathered> {
  const rows = new Map<string, Gathered>();
  const countersOf = (names: readonly (string | number)[]): Counters => {
    const id = names.join("\n");
    let row = rows.get(id);
    if (row === undefined) {
      row = { names, counters: Object.fromEntries(COUNTERS.map((name) => [name, 0])) as Counters };
      rows.set(id, row);
    }
    return row.counters;
  };
  for (const record of ended) {
    const own = countersOf(namesOf(record));
    count(own, record);
    for (const advisor of record.advisors ?? []) {
      const { modelId, model, costNanodollars: cost, upstreamCostNanodollars: list } = advisor;
      count(countersOf(namesOf({ ...record, model: modelId ?? model })), advisor);
      // It is part of what the generation has cost.
      own.cost -= cost;
      own.upstream_cost -= list;
    }
    own.requests += 1;
    if (record.outcome === "failed" || record.outcome === "interrupted") own.errors += 1;
  }
  return rows.values();
}

/**
 * A record of an earlier version may lack what came later. A report never keeps it from being saved: what is missing
 * counts as nothing.
 */
function namesOf(record: UsageRecord): (string | number)[] {
  return [
    dayOf(record.createdAt),
    record.accountId ?? "",
    record.keyId ?? "",
    record.userId ?? "",
    record.model ?? record.requestedModel ?? "",
    record.provider ?? "",
  ];
}

function count(counters: Counters, record: UsageRecord | AdvisorRecord): void {
  counters.prompt_tokens += record.promptTokens ?? 0;
  counters.completion_tokens += record.completionTokens ?? 0;
  counters.cached_tokens += record.cachedTokens ?? 0;
  counters.cache_write_tokens += record.cacheWriteTokens ?? 0;
  counters.reasoning_tokens += ("reasoningTokens" in record ? record.reasoningTokens : null) ?? 0;
  counters.cost += record.costNanodollars ?? 0;
  counters.upstream_cost += record.upstreamCostNanodollars ?? 0;
}

function readRow(row: Row, { groupBy }: UsageQuery): UsageSum {
  const value = groupBy === "day" ? formatDay(Number(row.group_value)) : String(row.group_value) || null;
  return {
    group: value,
    requests: row.requests,
    errors: row.errors,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    cachedTokens: row.cached_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    reasoningTokens: row.reasoning_tokens,
    cost: row.cost,
    upstreamCost: row.upstream_cost,
  };
}
