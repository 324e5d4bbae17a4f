/** The tables of sums of usage, which SQLite and PostgreSQL share. */

import type { ClientSumKey } from "../../../core/usage/reports/client-sums.ts";
import type { TagSumKey } from "../../../core/usage/reports/tag-sums.ts";
import { BUCKETS, EXACT_MS } from "../../../core/usage/reports/time-histogram.ts";
import type { UsageSumKey } from "../../../core/usage/reports/usage-sum-key.ts";
import type { UsageCounters } from "../../../core/usage/reports/usage-sums.ts";
import type { UsageTimes } from "../../../core/usage/reports/usage-times.ts";

/** The columns of the key, which all tables have. */
export const KEY_COLUMNS: Readonly<Record<keyof UsageSumKey, string>> = {
  accountId: "account_id",
  day: "day",
  keyId: "key_id",
  userId: "user_id",
  model: "model",
  provider: "provider",
  hour: "hour",
  outcome: "outcome",
};

export const COUNTER_COLUMNS: Readonly<Record<keyof UsageCounters, string>> = {
  requests: "requests",
  errors: "errors",
  promptTokens: "prompt_tokens",
  completionTokens: "completion_tokens",
  cachedTokens: "cached_tokens",
  cacheWriteTokens: "cache_write_tokens",
  reasoningTokens: "reasoning_tokens",
  cost: "cost",
  upstreamCost: "upstream_cost",
  byokUpstreamCost: "byok_upstream_cost",
  cacheSaved: "cache_saved",
  answersSaved: "answers_saved",
};

/** The columns of the buckets of histograms. */
export const LATENCY_COLUMNS = listBuckets("latency");
export const DURATION_COLUMNS = listBuckets("duration");

function listBuckets(name: string): readonly string[] {
  const exact = Array.from({ length: EXACT_MS }, (_, ms) => `${name}_of_${ms}_ms`);
  return [...Array.from({ length: BUCKETS }, (_, bucket) => `${name}_${bucket}`), ...exact];
}

export const COUNTERS = Object.keys(COUNTER_COLUMNS) as (keyof UsageCounters)[];

/** The hour of the sum of a whole day, which has taken the place of the sums of its hours. */
export const WHOLE_DAY = -1;

/** A table of sums. */
export interface SumTable<Value, Key extends UsageSumKey = UsageSumKey> {
  readonly name: "usage_sums" | "usage_times" | "usage_tags" | "usage_clients";
  /** The columns of its primary key. */
  readonly keys: readonly string[];
  /** The same in the order of the index by day and hour. */
  readonly byHour: readonly string[];
  /** Returns the values of these columns. */
  readonly readKey: (key: Key) => readonly (string | number)[];
  /** The columns that are added up. */
  readonly columns: readonly string[];
  /** Returns the amounts that a value adds to each of them. */
  readonly read: (value: Value) => readonly number[];
}

const KEY_NAMES = Object.keys(KEY_COLUMNS) as (keyof UsageSumKey)[];
const keys = Object.values(KEY_COLUMNS);
const byHour = ["day", "hour", "account_id", "key_id", "user_id", "model", "provider", "outcome"];
const readKey = (key: UsageSumKey) => KEY_NAMES.map((name) => key[name]);

export const USAGE_SUMS: SumTable<UsageCounters> = {
  name: "usage_sums",
  keys,
  byHour,
  readKey,
  columns: Object.values(COUNTER_COLUMNS),
  read: (counters) => COUNTERS.map((name) => counters[name]),
};

/** Sums of the requests that have tags, by their tags. */
export const USAGE_TAGS: SumTable<UsageCounters, TagSumKey> = {
  ...USAGE_SUMS,
  name: "usage_tags",
  keys: [...keys, "tag"],
  byHour: ["day", "hour", "account_id", "tag", "key_id", "user_id", "model", "provider", "outcome"],
  readKey: (key) => [...readKey(key), key.tag],
};

/** Sums of the requests whose clients are known, by their families. */
export const USAGE_CLIENTS: SumTable<UsageCounters, ClientSumKey> = {
  ...USAGE_SUMS,
  name: "usage_clients",
  keys: [...keys, "client"],
  byHour: ["day", "hour", "account_id", "client", "key_id", "user_id", "model", "provider", "outcome"],
  readKey: (key) => [...readKey(key), key.client],
};

export const USAGE_TIMES: SumTable<UsageTimes> = {
  name: "usage_times",
  keys,
  byHour,
  readKey,
  columns: [...LATENCY_COLUMNS, ...DURATION_COLUMNS],
  read: ({ latency, duration }) => [...latency, ...duration],
};

/** All tables of sums, in the order in which transactions lock their rows. */
export const SUM_TABLES = [USAGE_SUMS, USAGE_TAGS, USAGE_CLIENTS, USAGE_TIMES] as const;

/** Returns a statement that adds rows to the stored sums. `rows` has the columns of the key, and the columns to add. */
export function describeRaise({ name, keys, columns }: SumTable<never, never>, rows: string): string {
  return `INSERT INTO ${name} AS sums (${[...keys, ...columns].join(", ")}) ${rows}
    ON CONFLICT (${keys.join(", ")})
    DO UPDATE SET ${columns.map((column) => `${column} = sums.${column} + excluded.${column}`).join(", ")}`;
}
