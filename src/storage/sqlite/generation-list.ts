import type { Database } from "bun:sqlite";
import type { UsageRecord } from "../../core/usage/records.ts";
import {
  type GenerationFilter,
  type GenerationPage,
  type GenerationQuery,
  SCANNED_GENERATIONS,
} from "../../core/usage/usage-store.ts";

/** Lists generations, the newest first. Ids are in the order of their times. */
export function listGenerations(database: Database, query: GenerationQuery): GenerationPage {
  const { limit } = query;
  const page = describePage(query);
  const rows = database.query<{ record: string }, (string | number)[]>(page.text).all(...page.values);
  const records = rows.slice(0, limit).map(({ record }) => JSON.parse(record) as UsageRecord);
  if (rows.length > limit) return { records, next: records.at(-1)?.id ?? null };
  // Without further conditions everything was read.
  if (page.scan === null) return { records, next: null };
  const last = database.query<{ id: string }, (string | number)[]>(page.scan.text).get(...page.scan.values);
  return { records, next: last?.id ?? null };
}

/**
 * All are compared, for the few generations that are read for a page: an index on the account would double the time of saving a
 * generation. The model has no column.
 */
const COLUMNS = {
  accountId: "account_id",
  keyId: "key_id",
  model: "coalesce(record ->> 'model', record ->> 'requestedModel')",
  outcome: "outcome",
} as const;
const NAMES = Object.keys(COLUMNS) as (keyof GenerationFilter)[];

/** Returns the statement of a page, with one row more than it has, and the one that finds the last generation that may be read for it. */
export function describePage({ before, limit, ...filter }: GenerationQuery) {
  const given = NAMES.filter((name) => filter[name] !== null);
  const conditions = ["1 = 1"];
  const values: (string | number)[] = [];
  if (before !== null) {
    conditions.push("id < ?");
    values.push(before);
  }
  const read = (columns: string) =>
    `SELECT ${columns} FROM generations WHERE ${conditions.join(" AND ")} ORDER BY id DESC`;
  if (given.length === 0)
    return { text: `${read("record")} LIMIT ?`, values: [...values, limit + 1], scan: null };
  const scan = { text: `${read("id")} LIMIT 1 OFFSET ${SCANNED_GENERATIONS - 1}`, values };
  const scanned = `${read("record, key_id, account_id, outcome")} LIMIT ${SCANNED_GENERATIONS}`;
  const matches = given.map((name) => `${COLUMNS[name]} = ?`).join(" AND ");
  const text = `SELECT record FROM (${scanned}) WHERE ${matches} LIMIT ?`;
  return { text, values: [...values, ...given.map((name) => filter[name] ?? ""), limit + 1], scan };
}
