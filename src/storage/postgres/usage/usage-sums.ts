import type { DayRange } from "../../../base/time/time.ts";
import type { UsageRecord } from "../../../core/usage/records/records.ts";
import { sumByClient } from "../../../core/usage/reports/client-sums.ts";
import type { UsageQuery, UsageSum } from "../../../core/usage/reports/report.ts";
import type { TagHour, TagNames } from "../../../core/usage/reports/tag-names.ts";
import { sumByTag } from "../../../core/usage/reports/tag-sums.ts";
import type { UsageSumKey } from "../../../core/usage/reports/usage-sum-key.ts";
import type { HourSum } from "../../../core/usage/reports/usage-sums.ts";
import type { HourTimes, TimesLine } from "../../../core/usage/reports/usage-times.ts";
import { cleanText, readInteger } from "../../sql/statements/values.ts";
import {
  describeRaise,
  type SumTable,
  USAGE_CLIENTS,
  USAGE_SUMS,
  USAGE_TAGS,
  USAGE_TIMES,
} from "../../sql/usage/columns.ts";
import {
  describeReport,
  describeTimes,
  describeWholeDays,
  readSum,
  readTimes,
} from "../../sql/usage/report.ts";
import { encodeList, type SqlRunner } from "../connection/client.ts";

/** Adds sums to the stored sums of their hours, in the transaction of the caller. */
export function raiseSums(sql: SqlRunner, sums: readonly HourSum[]): Promise<void> {
  return raise(
    sql,
    USAGE_SUMS,
    sums.map(({ key, counters }) => ({ key, value: counters })),
  );
}

/** Adds records to the stored sums of their hours and clients, in the transaction of the caller. */
export async function raiseClients(sql: SqlRunner, ended: readonly UsageRecord[]): Promise<void> {
  const sums = sumByClient(ended);
  if (sums.length === 0) return;
  await raise(
    sql,
    USAGE_CLIENTS,
    sums.map(({ key, counters }) => ({ key, value: counters })),
  );
}

/** Adds records that have tags to the stored sums of their hours and tags, in the transaction of the caller. */
export async function raiseTags(
  sql: SqlRunner,
  tagged: readonly UsageRecord[],
  names: TagNames,
): Promise<void> {
  const unknown = names.listUnknown(tagged);
  if (unknown.length > 0) await learnTags(sql, unknown, names);
  const sums = sumByTag(tagged, (record) => names.nameTags(record));
  await raise(
    sql,
    USAGE_TAGS,
    sums.map(({ key, counters }) => ({ key, value: counters })),
  );
}

async function learnTags(sql: SqlRunner, hours: readonly TagHour[], names: TagNames): Promise<void> {
  const rows = await sql.run<{ at: number; tags: string }>(
    `SELECT hours.at::integer AS at, json_agg(DISTINCT stored.tag)::text AS tags
     FROM unnest($1::text::text[], $2::text::integer[], $3::text::integer[]) WITH ORDINALITY AS hours (account_id, day, hour, at)
     JOIN usage_tags AS stored USING (account_id, day, hour)
     WHERE stored.tag <> '' GROUP BY hours.at`,
    [
      encodeList(hours.map(({ accountId }) => cleanText(accountId))),
      encodeList(hours.map(({ day }) => day)),
      encodeList(hours.map(({ hour }) => hour)),
    ],
  );
  for (const [at, hour] of hours.entries()) {
    const stored = rows.find((row) => row.at === at + 1);
    names.learn(hour, stored === undefined ? [] : (JSON.parse(stored.tags) as string[]));
  }
}

/** Adds times to the stored times of their hours. */
export function raiseTimes(sql: SqlRunner, sums: readonly HourTimes[]): Promise<void> {
  return raise(
    sql,
    USAGE_TIMES,
    sums.map(({ key, times }) => ({ key, value: times })),
  );
}

async function raise<Value, Key extends UsageSumKey>(
  sql: SqlRunner,
  table: SumTable<Value, Key>,
  sums: readonly { readonly key: Key; readonly value: Value }[],
): Promise<void> {
  // In a fixed order, so that two transactions that raise the same sums cannot deadlock.
  const ordered = sums
    .map(({ key, value }) => ({ key: table.readKey(key).map(cleanKey), values: table.read(value) }))
    .map((row) => ({ ...row, name: row.key.join("\n") }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const keys = table.keys.map((_, at) => encodeList(ordered.map(({ key }) => key[at] ?? "")));
  const summed = table.columns.map((_, at) => encodeList(ordered.map(({ values }) => values[at] ?? 0)));
  await sql.run(describeLists(table), [...keys, ...summed]);
}

function cleanKey(value: string | number): string | number {
  return typeof value === "string" ? cleanText(value) : value;
}

function describeLists(table: SumTable<never, never>): string {
  const keys = table.keys.map((name) => (name === "day" || name === "hour" ? "integer" : "text"));
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

/** Returns whether some of these days have sums of the whole day. */
export async function hasWholeDays(sql: SqlRunner, days: DayRange): Promise<boolean> {
  return (await sql.run(describeWholeDays(days))).length > 0;
}

/** Reads the times of a usage report. */
export async function reportTimes(
  sql: SqlRunner,
  query: UsageQuery,
  only: readonly (string | null)[] | null,
): Promise<readonly TimesLine[]> {
  const { text, values } = describeTimes(query, "$", only);
  const rows = await sql.run<Row>(text, values);
  return rows.map((row) => readTimes(row, query, readNumber));
}

type Row = Readonly<Record<string, unknown>>;

function readNumber(value: unknown): number {
  return readInteger(String(value));
}
