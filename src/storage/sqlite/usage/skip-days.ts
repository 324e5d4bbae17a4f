import type { Database } from "bun:sqlite";
import { lowestIdAt, readIdTime } from "../../../base/secrets/ids.ts";
import { DAY_MS, dayOf } from "../../../base/time/time.ts";
import type { GenerationFilter } from "../../../core/usage/generations/generation-list.ts";
import { ID_MARGIN_MS } from "../../../core/usage/reports/usage-sums.ts";

/** The maximum number of daily sums that are read to find a day. */
const SCANNED_SUMS = 10_000;

/** The conditions that the daily sums have, each with an index. Conditions that usually have the fewest sums come first. */
const COLUMNS = {
  keyId: "key_id",
  userId: "user_id",
  accountId: "account_id",
  model: "model",
  provider: "provider",
} as const;
const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

/**
 * Returns where a list continues that has read all generations from `next` on: there, or where the earlier days begin that have a match
 * according to the daily sums. Null: no earlier generation matches.
 */
export function skipDays(database: Database, filter: GenerationFilter, next: string): string | null {
  const ms = readIdTime(next);
  const given = NAMES.filter((name) => filter[name] !== null);
  const { teamId } = filter;
  if (ms === null || (given.length === 0 && teamId === null)) return next;
  const day = dayOf(ms + ID_MARGIN_MS);
  const ofTeam = teamId === null ? day : findDayOfTeam(database, teamId, day);
  const ofOthers = latestOf(TABLES.map((table) => findDay(database, table, { filter, day })));
  const found = ofTeam === null || ofOthers === null ? null : Math.min(ofTeam, ofOthers);
  if (found === day) return next;
  const target = found === null ? "" : lowestIdAt("gen", (found + 1) * DAY_MS + ID_MARGIN_MS);
  if (target >= next) return next;
  const open = findOpen(database, next);
  if (open !== null && open > target) return open;
  return target === "" ? null : target;
}

/** Returns the position of the latest open generation before `next`, which no sum contains; null if there is none. */
function findOpen(database: Database, next: string): string | null {
  const open = database
    .query<{ id: string | null }, [string]>(
      "SELECT max(id) AS id FROM generations WHERE outcome = 'open' AND id < ?",
    )
    .get(next)?.id;
  if (open === null || open === undefined) return null;
  const after = lowestIdAt("gen", (readIdTime(open) ?? 0) + 1);
  return after < next ? after : next;
}

/** The tables of hourly and daily sums, and of daily sums that earlier versions have saved. */
const TABLES = ["usage_sums", "usage_days"];

function latestOf(days: readonly (number | null)[]): number | null {
  return days.reduce(
    (latest, day) => (latest === null || (day !== null && day > latest) ? day : latest),
    null,
  );
}

/** The maximum number of keys of a team whose days are looked up. */
const MAX_TEAM_KEYS = 5_000;

/** Returns the latest day up to `day` with a request of a key of a team; null if there is none. If the team has too many keys, returns `day`. */
function findDayOfTeam(database: Database, teamId: string, day: number): number | null {
  const ofKey = (table: string) =>
    `(SELECT max(day) FROM ${table} WHERE ${table}.key_id = keys.id AND day <= ?2)`;
  const days = TABLES.map((table) => `coalesce(${ofKey(table)}, -1)`).join(", ");
  const row = database
    .query<{ keys: number; day: number | null }, [string, number]>(
      `SELECT count(*) AS keys, max(max(${days})) AS day
       FROM (SELECT id FROM api_keys WHERE team_id = ?1 LIMIT ${MAX_TEAM_KEYS}) AS keys`,
    )
    .get(teamId, day);
  if (row === null || row.keys === MAX_TEAM_KEYS) return day;
  return row.day === null || row.day < 0 ? null : row.day;
}

/**
 * Returns the latest day up to `day` with a match in a table. If that takes too many sums, returns a day such that no day between it and `day` has
 * a match. Null if no day matches.
 */
function findDay(
  database: Database,
  table: string,
  { filter, day }: { readonly filter: GenerationFilter; readonly day: number },
): number | null {
  const given = NAMES.filter((name) => filter[name] !== null);
  const [lead] = given;
  if (lead === undefined) return day;
  const read = (columns: string) =>
    `SELECT ${columns} FROM ${table} WHERE ${COLUMNS[lead]} = ? AND day <= ? ORDER BY day DESC`;
  const leadValues = [filter[lead] ?? "", day];
  const matches = given.map((name) => `${COLUMNS[name]} = ?`).join(" AND ");
  const found = database
    .query<{ day: number }, (string | number)[]>(
      `SELECT day FROM (${read(`day, ${Object.values(COLUMNS).join(", ")}`)} LIMIT ${SCANNED_SUMS}) WHERE ${matches} LIMIT 1`,
    )
    .get(...leadValues, ...given.map((name) => filter[name] ?? ""));
  if (found !== null) return found.day;
  const last = database
    .query<{ day: number }, (string | number)[]>(`${read("day")} LIMIT 1 OFFSET ${SCANNED_SUMS - 1}`)
    .get(...leadValues);
  return last?.day ?? null;
}
