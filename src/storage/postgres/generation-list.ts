import { lowestIdAt } from "../../base/ids.ts";
import { DAY_MS, type DayRange } from "../../base/time.ts";
import type { UsageRecord } from "../../core/usage/records.ts";
import {
  type GenerationFilter,
  type GenerationPage,
  type GenerationQuery,
  SCANNED_GENERATIONS,
} from "../../core/usage/usage-store.ts";
import type { SqlRunner, SqlValue } from "./client.ts";
import { dayOfId, listDays } from "./partitions.ts";

interface GenerationRow {
  readonly id: string;
  /** Null for a generation that does not match. */
  readonly record: string | null;
  /** It is the last generation that may be read for the page. */
  readonly is_last: boolean;
}

/**
 * The numbers of days that the statements for one page read, one after the other: planning a statement takes time for each partition,
 * and most pages are found in the first days. What is older belongs to the next page.
 */
const DAYS_READ = [2, 8, 32, 86];

/** Lists generations, the newest first. */
export async function listGenerations(sql: SqlRunner, query: GenerationQuery): Promise<GenerationPage> {
  const { before, limit } = query;
  const all = await listDays(sql);
  const days = before === null ? all : all.filter((day) => day <= dayOfId(before));
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

/** Reads a page from some days. `next`: where the page after it begins, if not after its last generation. */
async function readDays(sql: SqlRunner, query: GenerationQuery, days: DayRange) {
  const { limit } = query;
  const { text, values } = describePage(query, days);
  const rows = await sql.run<GenerationRow>(text, values);
  const found = rows.flatMap(({ record }) => (record === null ? [] : [record]));
  const records = found.slice(0, limit).map((record) => JSON.parse(record) as UsageRecord);
  if (found.length > limit) return { records, hasMore: true, next: null };
  const last = rows.find((row) => row.is_last);
  return { records, hasMore: last !== undefined, next: last?.id ?? null };
}

/** The columns of a filter. The first of a query's that has a value is found through its index, the others are compared. */
const COLUMNS = { keyId: "key_id", accountId: "account_id", model: "model", outcome: "outcome" } as const;
const NAMES = Object.keys(COLUMNS) as (keyof GenerationFilter)[];

/** Outcomes that are rare, and have an index. */
const INDEXED_OUTCOMES = ["failed", "cancelled", "interrupted"];

/**
 * Returns the statement that reads a page from some days, with one row more than the page has. If generations are compared, the last one
 * that may be read is a row too.
 */
export function describePage({ before, limit, ...filter }: GenerationQuery, days: DayRange) {
  const given = NAMES.filter((name) => filter[name] !== null);
  const [lead] = given.filter(
    (name) => name !== "outcome" || INDEXED_OUTCOMES.includes(filter.outcome ?? ""),
  );
  const others = given.filter((name) => name !== lead);
  const values: SqlValue[] = [];
  const parameter = (value: SqlValue) => `$${values.push(value)}`;
  const conditions = [`day >= ${parameter(days.from)} AND day <= ${parameter(days.to)}`];
  if (lead !== undefined) conditions.push(describe(lead, filter, parameter));
  if (before !== null) conditions.push(`(day, id) < (${parameter(dayOfId(before))}, ${parameter(before)})`);
  const read = `FROM generations WHERE ${conditions.join(" AND ")} ORDER BY day DESC, id DESC`;
  const most = parameter(limit + 1);
  if (others.length === 0)
    return { text: `SELECT id, record, false AS is_last ${read} LIMIT ${most}`, values };
  const matches = others.map((name) => describe(name, filter, parameter)).join(" AND ");
  const text = `SELECT id, CASE WHEN matches THEN record END AS record, number = ${SCANNED_GENERATIONS} AS is_last
    FROM (
      SELECT id, record, ${matches} AS matches, row_number() OVER () AS number
      FROM (SELECT * ${read} LIMIT ${SCANNED_GENERATIONS}) AS scanned
    ) AS numbered WHERE matches OR number = ${SCANNED_GENERATIONS} LIMIT ${most}`;
  return { text, values };
}

function describe(
  name: keyof GenerationFilter,
  filter: GenerationFilter,
  parameter: (value: SqlValue) => string,
): string {
  // A value in the text, because the index on outcomes has only some of them.
  if (name === "outcome" && INDEXED_OUTCOMES.includes(filter.outcome ?? ""))
    return `outcome = '${filter.outcome}'`;
  return `${COLUMNS[name]} = ${parameter(filter[name])}`;
}
