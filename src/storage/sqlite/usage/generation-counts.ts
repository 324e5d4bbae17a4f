import type { Database } from "bun:sqlite";
import { readIdTime } from "../../../base/secrets/ids.ts";
import {
  addOutcome,
  type CountQuery,
  createCounts,
  type GenerationCounts,
  type OutcomeCounts,
} from "../../../core/usage/generations/generation-list.ts";
import type { Outcome } from "../../../core/usage/records/records.ts";
import { boundsFor, describeFilter, type ListSource, type Values } from "./generation-list.ts";

/** Counts generations by outcome in periods: one by one if they are few, otherwise from the first generations of each period. */
export function countGenerations(source: ListSource, query: CountQuery): GenerationCounts {
  const { database } = source;
  const bounds = boundsFor(source, query);
  const { fromMs, toMs, bucketMs } = query;
  const number = Math.ceil((toMs - fromMs) / bucketMs);
  const areFew = findId(database, query, bounds.counted) === null;
  const share = areFew ? bounds.counted : Math.floor(bounds.counted / number);
  const buckets = Array.from({ length: number }, (_, at) => {
    const from = fromMs + at * bucketMs;
    return countPeriod(database, { ...query, fromMs: from, toMs: Math.min(toMs, from + bucketMs) }, share);
  });
  return { buckets: buckets.map(({ counts }) => counts), isExact: buckets.every(({ isExact }) => isExact) };
}

/**
 * Counts the generations of one period. If there are more than `most`, the first ones are counted, and the others are assumed to be like
 * them.
 */
function countPeriod(
  database: Database,
  query: CountQuery,
  most: number,
): { readonly counts: OutcomeCounts; readonly isExact: boolean } {
  const { fromMs, toMs } = query;
  const { from, read, readValues, facts, matches, matchValues } = describeFilter(query, {
    withOutcome: true,
  });
  const rows = database.query<{ outcome: Outcome; number: number }, Values>(
    `SELECT outcome, count(*) AS number FROM (
       SELECT ${facts} FROM ${from} WHERE ${read} ORDER BY id LIMIT ?
     ) AS facts WHERE ${matches || "1 = 1"} GROUP BY outcome`,
  );
  const counted = rows.all(...readValues, most, ...matchValues);
  const last = findId(database, query, most);
  const endMs = last === null ? null : (readIdTime(last) ?? toMs);
  const factor = endMs === null ? 1 : (toMs - fromMs) / Math.max(1, endMs - fromMs);
  const counts = createCounts();
  for (const { outcome, number } of counted) addOutcome(counts, outcome, Math.round(number * factor));
  return { counts, isExact: last === null };
}

/** Returns the id of the generation after the first `skipped` ones that a query reads; null if there are no more. */
function findId(database: Database, query: CountQuery, skipped: number): string | null {
  const { from, read, readValues } = describeFilter(query);
  const found = database.query<{ id: string }, Values>(
    `SELECT id FROM ${from} WHERE ${read} ORDER BY id LIMIT 1 OFFSET ?`,
  );
  return found.get(...readValues, skipped)?.id ?? null;
}
