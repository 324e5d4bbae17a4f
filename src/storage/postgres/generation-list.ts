import type { UsageRecord } from "../../core/usage/records.ts";
import {
  type GenerationFilter,
  type GenerationPage,
  type GenerationQuery,
  SCANNED_GENERATIONS,
} from "../../core/usage/usage-store.ts";
import type { SqlRunner, SqlValue } from "./client.ts";
import { dayOfId } from "./partitions.ts";

interface GenerationRow {
  readonly id: string;
  readonly record: string;
}

/** Lists generations, the newest first. */
export async function listGenerations(sql: SqlRunner, query: GenerationQuery): Promise<GenerationPage> {
  const { limit } = query;
  const page = describePage(query);
  const rows = await sql.run<GenerationRow>(page.text, page.values);
  const records = rows.slice(0, limit).map(({ record }) => JSON.parse(record) as UsageRecord);
  if (rows.length > limit) return { records, next: records.at(-1)?.id ?? null };
  // Without further conditions everything was read.
  if (page.scan === null) return { records, next: null };
  const [last] = await sql.run<{ id: string }>(page.scan.text, page.scan.values);
  return { records, next: last?.id ?? null };
}

/** The columns of a filter. The first of a query's that has a value is found through its index, the others are compared. */
const COLUMNS = { keyId: "key_id", accountId: "account_id", model: "model", outcome: "outcome" } as const;
const NAMES = Object.keys(COLUMNS) as (keyof GenerationFilter)[];

/** Outcomes that are rare, and have an index. */
const INDEXED_OUTCOMES = ["failed", "cancelled", "interrupted"];

/**
 * Returns the statement of a page, which returns one row more than the page has, and the one that finds the last generation that may be
 * read for it. The conditions name days, so that partitions of later days are not opened.
 */
export function describePage({ before, limit, ...filter }: GenerationQuery) {
  const given = NAMES.filter((name) => filter[name] !== null);
  const [lead] = given.filter(
    (name) => name !== "outcome" || INDEXED_OUTCOMES.includes(filter.outcome ?? ""),
  );
  const others = given.filter((name) => name !== lead);
  const values: SqlValue[] = [];
  const parameter = (value: SqlValue) => `$${values.push(value)}`;
  const conditions = ["true"];
  if (lead !== undefined) conditions.push(describe(lead, filter, parameter));
  if (before !== null) {
    const [day, id] = [parameter(dayOfId(before)), parameter(before)];
    conditions.push(`day <= ${day} AND (day, id) < (${day}, ${id})`);
  }
  const read = (columns: string) =>
    `SELECT ${columns} FROM generations WHERE ${conditions.join(" AND ")} ORDER BY day DESC, id DESC`;
  if (others.length === 0)
    return { text: `${read("id, record")} LIMIT ${parameter(limit + 1)}`, values, scan: null };
  const scan = { text: `${read("id")} OFFSET ${SCANNED_GENERATIONS - 1} LIMIT 1`, values: [...values] };
  const scanned = `${read("id, record, key_id, account_id, model, outcome")} LIMIT ${SCANNED_GENERATIONS}`;
  const matches = others.map((name) => describe(name, filter, parameter)).join(" AND ");
  const text = `SELECT id, record FROM (${scanned}) AS scanned WHERE ${matches} LIMIT ${parameter(limit + 1)}`;
  return { text, values, scan };
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
