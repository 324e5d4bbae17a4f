import type { UsageQuery, UsageSum } from "../../core/usage/report.ts";
import type { HourSum, UsageSumKey } from "../../core/usage/usage-sums.ts";
import { nameSum } from "../../core/usage/usage-sums.ts";
import type { HourTimes, TimesLine } from "../../core/usage/usage-times.ts";
import { describeRaise, KEYS, type SumTable, USAGE_SUMS, USAGE_TIMES } from "../usage-sql/columns.ts";
import { describeReport, describeTimes, readSum, readTimes } from "../usage-sql/report.ts";
import { encodeList, type SqlRunner } from "./client.ts";
import { cleanText, readInteger } from "./values.ts";

/** Adds sums to the stored sums of their hours, in the transaction of the caller. */
export function raiseSums(sql: SqlRunner, sums: readonly HourSum[]): Promise<void> {
  return raise(
    sql,
    USAGE_SUMS,
    sums.map(({ key, counters }) => ({ key, value: counters })),
  );
}

/** Adds times to the stored times of their hours. */
export function raiseTimes(sql: SqlRunner, sums: readonly HourTimes[]): Promise<void> {
  return raise(
    sql,
    USAGE_TIMES,
    sums.map(({ key, times }) => ({ key, value: times })),
  );
}

async function raise<Value>(
  sql: SqlRunner,
  table: SumTable<Value>,
  sums: readonly { readonly key: UsageSumKey; readonly value: Value }[],
): Promise<void> {
  // In one order, so that two transactions that raise the same sums wait for each other and cannot block each other.
  const ordered = sums
    .map(({ key, value }) => ({ name: nameSum(key), key, values: table.read(value) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const keys = KEYS.map((name) => encodeList(ordered.map(({ key }) => cleanKey(key[name]))));
  const summed = table.columns.map((_, at) => encodeList(ordered.map(({ values }) => values[at] ?? 0)));
  await sql.run(describeLists(table), [...keys, ...summed]);
}

function cleanKey(value: string | number): string | number {
  return typeof value === "string" ? cleanText(value) : value;
}

function describeLists(table: SumTable<never>): string {
  const keys = KEYS.map((name) => (name === "day" || name === "hour" ? "integer" : "text"));
  const types = [...keys, ...table.columns.map(() => "bigint")];
  const lists = types.map((type, at) => `$${at + 1}::text::${type}[]`);
  return describeRaise(table, `SELECT * FROM unnest(${lists.join(", ")})`);
}

/** Computes a usage report. */
export async function reportUsage(sql: SqlRunner, query: UsageQuery): Promise<readonly UsageSum[]> {
  const { text, values } = describeReport(query, "$");
  const rows = await sql.run<Row>(text, values);
  return rows.map((row) => readSum(row, query, readNumber));
}

/** Reads the times of a usage report. */
export async function reportTimes(sql: SqlRunner, query: UsageQuery): Promise<readonly TimesLine[]> {
  const { text, values } = describeTimes(query, "$");
  const rows = await sql.run<Row>(text, values);
  return rows.map((row) => readTimes(row, query, readNumber));
}

type Row = Readonly<Record<string, unknown>>;

function readNumber(value: unknown): number {
  return readInteger(String(value));
}
