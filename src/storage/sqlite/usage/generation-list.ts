import type { Database } from "bun:sqlite";
import { lowestIdAt, readIdTime } from "../../../base/secrets/ids.ts";
import {
  FOUND_GENERATIONS,
  type GenerationFilter,
  type GenerationPage,
  type GenerationQuery,
  type GenerationState,
  type ListBounds,
  RECORD_BOUNDS,
} from "../../../core/usage/generations/generation-list.ts";
import type { UsageRecord } from "../../../core/usage/records/records.ts";
import { skipDays } from "./skip-days.ts";

/** Values of a statement. */
export type Values = (string | number)[];

/** The number of index entries that are read together, which is faster than reading records. */
export const ENTRY_BOUNDS: ListBounds = { scanned: 40_000, counted: 30_000 };

/** The sources of lists of generations. */
export interface ListSource {
  readonly database: Database;
  readonly bounds: ListBounds;
}

interface RecordRow {
  readonly record: string;
}

/**
 * How many times longer it takes to read an entry whose facts are not next to each other in an index: of a tag, because each entry has its
 * own place in the index of lists, and of a client, which only the records have.
 */
const SCATTERED_FACTOR = 4;

/** Returns how many entries are read for a filter, so that all filters take about the same time. */
export function boundsFor(
  { bounds }: ListSource,
  { tag, client, clientVersion }: GenerationFilter,
): ListBounds {
  const factor = tag === null && client === null && clientVersion === null ? 1 : SCATTERED_FACTOR;
  return { scanned: Math.ceil(bounds.scanned / factor), counted: Math.ceil(bounds.counted / factor) };
}

/**
 * Lists generations, the newest first. Ids are in the order of their times. If a page is incomplete after the allowed number of generations
 * was read, the daily sums show where the next matches can be, and as many generations are read there.
 */
export function listGenerations(source: ListSource, query: GenerationQuery): GenerationPage {
  const first = readAndSkip(source, query);
  const { next: before } = first;
  const limit = query.limit - first.records.length;
  if (before === null || limit === 0) return first;
  const second = readAndSkip(source, { ...query, before, limit });
  return { records: [...first.records, ...second.records], next: second.next };
}

function readAndSkip(source: ListSource, query: GenerationQuery): GenerationPage {
  const { records, next } = readPage(source, query);
  if (next === null || records.length === query.limit) return { records, next };
  return { records, next: skipDays(source.database, query, next) };
}

function readPage(source: ListSource, query: GenerationQuery): GenerationPage {
  const { database } = source;
  const { limit } = query;
  const page = describePage(query, boundsFor(source, query).scanned);
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
  const row = found.get(lowestIdAt("gen", ms), RECORD_BOUNDS.scanned, JSON.stringify(requestId), requestId);
  return row === null ? null : readRecord(row);
}

/** Returns the states of the newest generations, the newest first. */
export function listStates(database: Database, fromMs: number, limit: number): readonly GenerationState[] {
  const states = database.query<GenerationState, [string, number]>(
    "SELECT id, outcome FROM generations WHERE id >= ? ORDER BY id DESC LIMIT ?",
  );
  return states.all(lowestIdAt("gen", fromMs), limit);
}

/** The model of a record of an earlier version is only in the record. */
const MODEL = "coalesce(model, record ->> 'model', record ->> 'requestedModel')";

/** The columns that a filter compares, as the indexes of lists have them. */
const FACTS = {
  // The index of repeated answers is small, and most entries are not in it.
  outcome: `CASE WHEN outcome = 'completed' AND EXISTS (
    SELECT 1 FROM generations AS repeated INDEXED BY generations_cached
    WHERE repeated.id = generations.id AND repeated.replay_of IS NOT NULL
  ) THEN 'cached' ELSE outcome END`,
  accountId: "account_id",
  keyId: "key_id",
  userId: "user_id",
  teamId: "key_id",
  sessionId: "session_id",
  client: "record ->> 'client'",
  clientVersion: "record ->> 'clientVersion'",
  model: MODEL,
  modelContains: MODEL,
  provider: "coalesce(provider, record ->> 'provider')",
  errorType: "coalesce(error_type, record ->> 'error')",
} as const satisfies Record<Exclude<keyof GenerationFilter, "tag" | "fromMs" | "toMs">, string>;
const NAMES = Object.keys(FACTS) as (keyof typeof FACTS)[];

/** Outcomes of generations that ended early. They are rare and have an index of their own; other generations have no error. */
const ENDED_EARLY = ["failed", "cancelled", "interrupted"];
const IS_ENDED_EARLY = "outcome <> 'completed' AND outcome <> 'open'";

/** Returns the range of the index that is read for a filter, with its conditions. */
function chooseIndex({ outcome, errorType, sessionId, tag }: GenerationFilter) {
  // Joined by the id alone, so that the index of lists has the other facts.
  if (tag !== null)
    return {
      from: "generation_tags CROSS JOIN generations INDEXED BY generations_facts USING (id)",
      read: "tag = ?",
      values: [tag],
    };
  if (sessionId !== null)
    return {
      from: "generations INDEXED BY generations_session",
      read: "session_id = ?",
      values: [sessionId],
    };
  if (outcome === "open") return { from: "generations", read: "outcome = 'open'", values: [] };
  if (outcome === "cached")
    return { from: "generations INDEXED BY generations_cached", read: "replay_of IS NOT NULL", values: [] };
  const isEndedEarly = errorType !== null || ENDED_EARLY.includes(outcome ?? "");
  return isEndedEarly
    ? { from: "generations INDEXED BY generations_not_completed", read: IS_ENDED_EARLY, values: [] }
    : { from: "generations INDEXED BY generations_facts", read: "1 = 1", values: [] };
}

/** The records of a tag. */
const ALL_OF_TAG = "generation_tags CROSS JOIN generations USING (id)";

function matchOf(name: keyof typeof FACTS): string {
  if (name === "modelContains") return "instr(lower(facts.modelContains), ?) > 0";
  return name === "teamId" ? OF_TEAM : `facts.${name} = ?`;
}

/** The maximum number of a team's keys that are listed to compare generations with them. The keys of a larger team are looked up one by one. */
const MAX_LISTED_KEYS = 1_000;

/** Compares the team of the key, which never changes. Needs the team's id three times. SQLite runs only the chosen one of the two subqueries. */
const OF_TEAM = `CASE
  WHEN (SELECT count(*) FROM (SELECT 1 FROM api_keys WHERE team_id = ? LIMIT ${MAX_LISTED_KEYS + 1})) <= ${MAX_LISTED_KEYS}
  THEN facts.teamId IN (SELECT id FROM api_keys WHERE team_id = ?)
  ELSE (SELECT team_id FROM api_keys WHERE id = facts.teamId) = ? END`;

function valuesOf(name: keyof typeof FACTS, value: string): readonly string[] {
  return name === "teamId" ? [value, value, value] : [value];
}

/** Returns the query for a filter: the index range to read, the columns to read, and the condition for each row. */
export function describeFilter(filter: GenerationFilter, { withOutcome = false } = {}) {
  const { fromMs, toMs } = filter;
  const { from, read: first, values } = chooseIndex(filter);
  const read: string[] = [first];
  const readValues: Values = [...values];
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
    from,
    read: read.join(" AND "),
    readValues,
    facts: NAMES.filter((name) => (name === "outcome" && withOutcome) || filter[name] !== null)
      .map((name) => `${FACTS[name]} AS ${name}`)
      .join(", "),
    matches: given.map(matchOf).join(" AND "),
    matchValues: given.flatMap((name) => valuesOf(name, filter[name] ?? "")),
  };
}

/**
 * Returns two statements: one for a page, which reads one more row than the page has, and one that finds the last generation that may be
 * read for it. `scanned`: the maximum number of generations to read.
 */
export function describePage({ before, limit, ...filter }: GenerationQuery, scanned: number) {
  const { from, read, readValues, facts, matches, matchValues } = describeFilter(filter);
  const values = before === null ? readValues : [...readValues, before];
  const where = before === null ? read : `${read} AND id < ?`;
  const select = (columns: string, table: string) =>
    `SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY id DESC`;
  if (matches === "")
    return {
      text: `${select("record", filter.tag === null ? "generations" : ALL_OF_TAG)} LIMIT ?`,
      values: [...values, limit + 1],
      scan: null,
    };
  const scan = { text: `${select("id", from)} LIMIT 1 OFFSET ${scanned - 1}`, values };
  const entries = `${select(`id, ${facts}`, from)} LIMIT ${scanned}`;
  const text = `SELECT saved.record FROM (${entries}) AS facts CROSS JOIN generations AS saved ON saved.id = facts.id
    WHERE ${matches} LIMIT ?`;
  return { text, values: [...values, ...matchValues, limit + 1], scan };
}

function readRecord({ record }: RecordRow): UsageRecord {
  return JSON.parse(record) as UsageRecord;
}
