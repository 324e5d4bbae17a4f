import { lowestIdAt, readIdTime } from "../../../base/secrets/ids.ts";
import { dayOf } from "../../../base/time/time.ts";
import {
  addOutcome,
  type CountQuery,
  createCounts,
  type GenerationCounts,
  RECORD_BOUNDS,
} from "../../../core/usage/generations/generation-list.ts";
import type { Outcome } from "../../../core/usage/records/records.ts";
import { encodeList, type PostgresValue, type SqlRunner } from "../connection/client.ts";
import { describeFilter, SHOWN_OUTCOME } from "./generation-filter.ts";

interface CountRow {
  readonly bucket: number;
  readonly outcome: Outcome;
  readonly number: string;
  /** The id of the last generation that was read for the period, if there are more; otherwise null. */
  readonly last: string | null;
}

/** Counts generations by outcome in periods: one by one if they are few, otherwise from the first generations of each period. */
export async function countGenerations(sql: SqlRunner, query: CountQuery): Promise<GenerationCounts> {
  const { fromMs, toMs, bucketMs } = query;
  const starts: number[] = [];
  for (let ms = fromMs; ms < toMs; ms += bucketMs) starts.push(ms);
  const buckets = starts.map(createCounts);
  let isExact = true;
  const share = (await areFew(sql, query))
    ? RECORD_BOUNDS.counted
    : Math.floor(RECORD_BOUNDS.counted / starts.length);
  const { text, values } = describeCounts(query, starts, share);
  for (const { bucket, outcome, number, last } of await sql.run<CountRow>(text, values)) {
    const [counts, start] = [buckets[bucket], starts[bucket]];
    if (counts === undefined || start === undefined) continue;
    const endMs = last === null ? null : (readIdTime(last) ?? toMs);
    if (endMs !== null) isExact = false;
    const lengthMs = Math.min(toMs, start + bucketMs) - start;
    const factor = endMs === null ? 1 : lengthMs / Math.max(1, endMs - start);
    addOutcome(counts, outcome, Math.round(Number(number) * factor));
  }
  return { buckets, isExact };
}

/** Returns whether all generations that a query reads may be counted one by one. */
async function areFew(sql: SqlRunner, query: CountQuery): Promise<boolean> {
  const values: PostgresValue[] = [];
  const parameter = (value: PostgresValue) => `$${values.push(value)}`;
  const { from, dayColumns, read } = describeFilter(query, parameter);
  const [first, last] = [query.fromMs, query.toMs - 1].map((ms) => parameter(dayOf(ms)));
  const inDays = dayColumns.map((day) => `${day} >= ${first} AND ${day} <= ${last}`);
  const rows = await sql.run(
    `SELECT 1 AS one FROM ${from} WHERE ${[...inDays, ...read].join(" AND ")}
     ORDER BY day, id LIMIT 1 OFFSET ${RECORD_BOUNDS.counted}`,
    values,
  );
  return rows.length === 0;
}

function describeCounts(query: CountQuery, starts: readonly number[], share: number) {
  const { fromMs: _from, toMs, bucketMs, ...filter } = query;
  const values: PostgresValue[] = [];
  const parameter = (value: PostgresValue) => `$${values.push(value)}`;
  const ends = starts.map((start) => Math.min(toMs, start + bucketMs));
  const lists = [
    `${parameter(encodeList(starts.map((start) => dayOf(start))))}::text::integer[]`,
    `${parameter(encodeList(ends.map((end) => dayOf(end - 1))))}::text::integer[]`,
    `${parameter(encodeList(ends.map((end) => dayOf(end))))}::text::integer[]`,
    `${parameter(encodeList(starts.map((start) => lowestIdAt("gen", start))))}::text::text[]`,
    `${parameter(encodeList(ends.map((end) => lowestIdAt("gen", end))))}::text::text[]`,
  ];
  const { from, dayColumns, read, listMatches } = describeFilter(
    { ...filter, fromMs: null, toMs: null },
    parameter,
  );
  const period = [
    ...dayColumns.map((day) => `${day} >= first_day AND ${day} <= last_day`),
    "(day, id) >= (first_day, low) AND (day, id) < (high_day, high)",
  ];
  const where = [...period, ...read].join(" AND ");
  const text = `SELECT bucket - 1 AS bucket, shown AS outcome, count(*) FILTER (WHERE ${listMatches().join(" AND ") || "true"}) AS number,
      (SELECT id FROM ${from} WHERE ${where} ORDER BY day, id LIMIT 1 OFFSET ${share}) AS last
    FROM unnest(${lists.join(", ")}) WITH ORDINALITY AS periods (first_day, last_day, high_day, low, high, bucket)
    CROSS JOIN LATERAL (
      SELECT *, ${SHOWN_OUTCOME} AS shown FROM ${from} WHERE ${where} ORDER BY day, id LIMIT ${share}
    ) AS read
    GROUP BY bucket, shown, first_day, last_day, high_day, low, high`;
  return { text, values };
}
