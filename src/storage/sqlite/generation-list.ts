import type { Database } from "bun:sqlite";
import { lowestIdAt, readIdTime } from "../../base/ids.ts";
import {
  FOUND_GENERATIONS,
  type GenerationFilter,
  type GenerationPage,
  type GenerationQuery,
  type GenerationState,
  SCANNED_GENERATIONS,
} from "../../core/usage/generation-list.ts";
import type { UsageRecord } from "../../core/usage/records.ts";
import { skipDays } from "./skip-days.ts";

/** Values of a statement. */
export type Values = (string | number)[];

interface RecordRow {
  readonly record: string;
}

/**
 * Lists generations, the newest first. Ids are in the order of their times. If a page is not full after the generations that may be read,
 * the sums of days tell where the next matches can be, and as many generations are read there.
 */
export function listGenerations(database: Database, query: GenerationQuery): GenerationPage {
  const first = readAndSkip(database, query);
  const { next: before } = first;
  const limit = query.limit - first.records.length;
  if (before === null || limit === 0) return first;
  const second = readAndSkip(database, { ...query, before, limit });
  return { records: [...first.records, ...second.records], next: second.next };
}

function readAndSkip(database: Database, query: GenerationQuery): GenerationPage {
  const { records, next } = readPage(database, query);
  if (next === null || records.length === query.limit) return { records, next };
  return { records, next: skipDays(database, query, next) };
}

function readPage(database: Database, query: GenerationQuery): GenerationPage {
  const { limit } = query;
  const page = describePage(query);
  const rows = database.query<RecordRow, Values>(page.text).all(...page.values);
  const records = rows.slice(0, limit).map(readRecord);
  if (rows.length > limit) return { records, next: records.at(-1)?.id ?? null };
  // Without further conditions everything was read.
  if (page.scan === null) return { records, next: null };
  const last = database.query<{ id: string }, Values>(page.scan.text).get(...page.scan.values);
  return { records, next: last?.id ?? null };
}

/** Returns the generations with some ids, in any order. */
export function findGenerations(database: Database, ids: readonly string[]): readonly UsageRecord[] {
  const found = database.query<RecordRow, [string]>(
    "SELECT record FROM generations WHERE id IN (SELECT value FROM json_each(?))",
  );
  return found.all(JSON.stringify(ids.slice(0, FOUND_GENERATIONS))).map(readRecord);
}

/** Returns the generation of a request, which has got its id after the request. */
export function findByRequest(database: Database, requestId: string): UsageRecord | null {
  const ms = readIdTime(requestId);
  if (ms === null) return null;
  const found = database.query<RecordRow, [string, number, string, string]>(
    `SELECT record FROM (SELECT record FROM generations WHERE id >= ? ORDER BY id LIMIT ?)
     WHERE instr(record, ?) > 0 AND record ->> 'requestId' = ? LIMIT 1`,
  );
  const row = found.get(lowestIdAt("gen", ms), SCANNED_GENERATIONS, JSON.stringify(requestId), requestId);
  return row === null ? null : readRecord(row);
}

/** Returns the states of the newest generations, the newest first. */
export function listStates(database: Database, fromMs: number, limit: number): readonly GenerationState[] {
  const states = database.query<GenerationState, [string, number]>(
    "SELECT id, outcome FROM generations WHERE id >= ? ORDER BY id DESC LIMIT ?",
  );
  return states.all(lowestIdAt("gen", fromMs), limit);
}

/**
 * Conditions on one generation that has been read: an index on each column would double the time of saving a generation. Text is searched
 * before it is parsed, which is faster.
 */
const CONDITIONS = {
  outcome: { text: "outcome = ?", values: (value) => [value] },
  accountId: { text: "account_id = ?", values: (value) => [value] },
  keyId: { text: "key_id = ?", values: (value) => [value] },
  userId: { text: "user_id = ?", values: (value) => [value] },
  model: {
    text: "instr(record, ?) > 0 AND coalesce(record ->> 'model', record ->> 'requestedModel') = ?",
    values: (value) => [`odel":${JSON.stringify(value)}`, value],
  },
  provider: {
    text: "instr(record, ?) > 0 AND record ->> 'provider' = ?",
    values: (value) => [`"provider":${JSON.stringify(value)}`, value],
  },
  errorType: {
    text: "instr(record, ?) > 0 AND record ->> 'error' = ?",
    values: (value) => [`"error":${JSON.stringify(value)}`, value],
  },
} satisfies Record<
  Exclude<keyof GenerationFilter, "fromMs" | "toMs">,
  { readonly text: string; readonly values: (value: string) => Values }
>;
const NAMES = Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[];

/** Outcomes that are rare, and have an index. Other generations have no error. */
const INDEXED = ["failed", "cancelled", "interrupted"];
const ENDED_EARLY = "generations INDEXED BY generations_not_completed";
/** Of these fewer are read at once, because they are far from each other in the file. */
const SCANNED_EARLY_ENDS = 500;
const IS_ENDED_EARLY = "outcome <> 'completed' AND outcome <> 'open'";

/** Returns which generations are read for a filter, in the order of ids, and which of those match it. */
export function describeFilter({ fromMs, toMs, ...filter }: GenerationFilter) {
  const { outcome, errorType } = filter;
  const isEndedEarly = INDEXED.includes(outcome ?? "") || (outcome === null && errorType !== null);
  const read = [isEndedEarly ? IS_ENDED_EARLY : outcome === "open" ? "outcome = 'open'" : "1 = 1"];
  const readValues: Values = [];
  if (fromMs !== null) {
    read.push("id >= ?");
    readValues.push(lowestIdAt("gen", fromMs));
  }
  if (toMs !== null) {
    read.push("id < ?");
    readValues.push(lowestIdAt("gen", toMs));
  }
  const given = NAMES.filter((name) => filter[name] !== null);
  return {
    from: isEndedEarly ? ENDED_EARLY : "generations",
    scanned: isEndedEarly ? SCANNED_EARLY_ENDS : SCANNED_GENERATIONS,
    read: read.join(" AND "),
    readValues,
    matches: given.map((name) => CONDITIONS[name].text).join(" AND "),
    matchValues: given.flatMap((name) => CONDITIONS[name].values(filter[name] ?? "")),
  };
}

/** Returns the statement of a page, with one row more than it has, and the one that finds the last generation that may be read for it. */
export function describePage({ before, limit, ...filter }: GenerationQuery) {
  const { from, scanned: most, read, readValues, matches, matchValues } = describeFilter(filter);
  const values = before === null ? readValues : [...readValues, before];
  const earlier = before === null ? "" : " AND id < ?";
  const select = (columns: string) =>
    `SELECT ${columns} FROM ${from} WHERE ${read}${earlier} ORDER BY id DESC`;
  if (matches === "")
    return { text: `${select("record")} LIMIT ?`, values: [...values, limit + 1], scan: null };
  const scan = { text: `${select("id")} LIMIT 1 OFFSET ${most - 1}`, values };
  const scanned = `${select("record, key_id, account_id, user_id, outcome")} LIMIT ${most}`;
  const text = `SELECT record FROM (${scanned}) WHERE ${matches} LIMIT ?`;
  return { text, values: [...values, ...matchValues, limit + 1], scan };
}

function readRecord({ record }: RecordRow): UsageRecord {
  return JSON.parse(record) as UsageRecord;
}
