import { lowestIdAt, readIdTime } from "../../../base/secrets/ids.ts";
import { DAY_MS, type DayRange, dayOf } from "../../../base/time/time.ts";
import {
  FOUND_GENERATIONS,
  type GenerationPage,
  type GenerationQuery,
  type GenerationState,
  RECORD_BOUNDS,
} from "../../../core/usage/generations/generation-list.ts";
import type { UsageRecord } from "../../../core/usage/records/records.ts";
import { dayOfId } from "../../sql/statements/day-of-id.ts";
import { encodeList, type PostgresValue, type SqlRunner } from "../connection/client.ts";
import { LEDGER_TABLES, listDays } from "../tables/partitions.ts";
import { describeFilter } from "./generation-filter.ts";
import { skipDays } from "./skip-days.ts";

interface GenerationRow {
  readonly id: string;
  /** Null for a generation that does not match. */
  readonly record: string | null;
  /** It is the last generation that may be read for the page. */
  readonly is_last: boolean;
}

/**
 * The numbers of days that the statements for one page read, one after another. Planning a statement takes time for each partition, and
 * most pages are found in the first days. Older generations belong to the next page.
 */
const DAYS_READ = [2, 8, 32, 86];

/** How often an incomplete page continues where the daily sums show that the next matches can be. */
const ROUNDS = 2;

/** Lists generations, the newest first. */
export async function listGenerations(sql: SqlRunner, query: GenerationQuery): Promise<GenerationPage> {
  const records: UsageRecord[] = [];
  let { before } = query;
  for (let round = 0; round < ROUNDS; round++) {
    const position = await skipDays(sql, query, before);
    if (position.isOver) return { records, next: null };
    const limit = query.limit - records.length;
    const page = await readPage(sql, { ...query, before: position.before, limit });
    records.push(...page.records);
    before = page.next;
    if (before === null || page.records.length === limit) break;
  }
  return { records, next: before };
}

async function readPage(sql: SqlRunner, query: GenerationQuery): Promise<GenerationPage> {
  const { limit } = query;
  const days = await listDaysOf(sql, query);
  const records: UsageRecord[] = [];
  let read = 0;
  for (const count of DAYS_READ) {
    const [to, from] = [days[read], days.slice(read, read + count).at(-1)];
    if (to === undefined || from === undefined) break;
    const page = await readDays(sql, { ...query, limit: limit - records.length }, { from, to });
    records.push(...page.records);
    if (page.hasMore) return { records, next: page.next ?? records.at(-1)?.id ?? null };
    read += count;
  }
  const lastRead = days[read - 1];
  const isComplete = read >= days.length || lastRead === undefined;
  return { records, next: isComplete ? null : lowestIdAt("gen", lastRead * DAY_MS) };
}

/** Returns the days that can have generations of a page, the latest first. */
async function listDaysOf(
  sql: SqlRunner,
  { before, fromMs, toMs }: GenerationQuery,
): Promise<readonly number[]> {
  const first = fromMs === null ? Number.NEGATIVE_INFINITY : dayOf(fromMs);
  const last = Math.min(
    before === null ? Number.POSITIVE_INFINITY : dayOfId(before),
    toMs === null ? Number.POSITIVE_INFINITY : dayOf(toMs - 1),
  );
  return (await listDays(sql, LEDGER_TABLES)).filter((day) => first <= day && day <= last);
}

/** Reads a page from some days. `next`: where the page after it begins, if not after its last generation. */
async function readDays(sql: SqlRunner, query: GenerationQuery, days: DayRange) {
  const { limit } = query;
  const { text, values } = describePage(query, days);
  const rows = await sql.run<GenerationRow>(text, values);
  const found = rows.flatMap(({ record }) => (record === null ? [] : [record]));
  const records = found.slice(0, limit).map(parseRecord);
  if (found.length > limit) return { records, hasMore: true, next: null };
  const last = rows.find((row) => row.is_last);
  return { records, hasMore: last !== undefined, next: last?.id ?? null };
}

/**
 * Returns the statement that reads a page from some days, with one more row than the page has. If generations are compared with the filter,
 * it also returns the last one that may be read.
 */
export function describePage({ before, limit, ...filter }: GenerationQuery, days: DayRange) {
  const values: PostgresValue[] = [];
  const parameter = (value: PostgresValue) => `$${values.push(value)}`;
  const [first, last] = [parameter(days.from), parameter(days.to)];
  const { from, dayColumns, read, listMatches } = describeFilter(filter, parameter);
  const matches = listMatches();
  const conditions = [...dayColumns.map((day) => `${day} >= ${first} AND ${day} <= ${last}`), ...read];
  if (before !== null) conditions.push(`(day, id) < (${parameter(dayOfId(before))}, ${parameter(before)})`);
  const scanned = `FROM ${from} WHERE ${conditions.join(" AND ")} ORDER BY day DESC, id DESC`;
  const most = parameter(limit + 1);
  if (matches.length === 0)
    return { text: `SELECT id, record, false AS is_last ${scanned} LIMIT ${most}`, values };
  const text = `SELECT id, CASE WHEN matches THEN record END AS record, number = ${RECORD_BOUNDS.scanned} AS is_last
    FROM (
      SELECT id, record, ${matches.join(" AND ")} AS matches, row_number() OVER () AS number
      FROM (SELECT * ${scanned} LIMIT ${RECORD_BOUNDS.scanned}) AS scanned
    ) AS numbered WHERE matches OR number = ${RECORD_BOUNDS.scanned} LIMIT ${most}`;
  return { text, values };
}

/** Returns the generations with some ids, in any order. */
export async function findGenerations(
  sql: SqlRunner,
  ids: readonly string[],
): Promise<readonly UsageRecord[]> {
  if (ids.length === 0) return [];
  const some = ids.slice(0, FOUND_GENERATIONS);
  const days = [...new Set(some.map(dayOfId))];
  const rows = await sql.run<{ record: string }>(
    "SELECT record FROM generations WHERE day = ANY($1::text::integer[]) AND id = ANY($2::text::text[])",
    [encodeList(days), encodeList(some)],
  );
  return rows.map(({ record }) => parseRecord(record));
}

/** Returns the generation of a request, which has got its id after the request. */
export async function findByRequest(sql: SqlRunner, requestId: string): Promise<UsageRecord | null> {
  const ms = readIdTime(requestId);
  if (ms === null) return null;
  const day = dayOf(ms);
  const rows = await sql.run<{ record: string }>(
    `SELECT record FROM (
       SELECT record FROM generations WHERE day >= $1 AND day <= $2 AND (day, id) >= ($1, $3)
       ORDER BY day, id LIMIT ${RECORD_BOUNDS.scanned}
     ) AS scanned WHERE strpos(record, $4) > 0 AND record::json ->> 'requestId' = $5 LIMIT 1`,
    [day, day + 1, lowestIdAt("gen", ms), JSON.stringify(requestId), requestId],
  );
  return rows.map(({ record }) => parseRecord(record))[0] ?? null;
}

/** Returns the states of the newest generations, the newest first. */
export async function listStates(
  sql: SqlRunner,
  fromMs: number,
  limit: number,
): Promise<readonly GenerationState[]> {
  const day = dayOf(fromMs);
  return sql.run<GenerationState>(
    `SELECT id, outcome FROM generations WHERE day >= $1 AND (day, id) >= ($1, $2)
     ORDER BY day DESC, id DESC LIMIT $3`,
    [day, lowestIdAt("gen", fromMs), limit],
  );
}

function parseRecord(record: string): UsageRecord {
  return JSON.parse(record) as UsageRecord;
}
