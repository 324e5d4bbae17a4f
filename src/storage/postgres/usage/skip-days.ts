import { lowestIdAt, readIdTime } from "../../../base/secrets/ids.ts";
import { DAY_MS, dayOf } from "../../../base/time/time.ts";
import type { GenerationFilter } from "../../../core/usage/generations/generation-list.ts";
import { ID_MARGIN_MS } from "../../../core/usage/reports/usage-sums.ts";
import { dayOfId } from "../../sql/statements/day-of-id.ts";
import type { PostgresValue, SqlRunner } from "../connection/client.ts";

/** The conditions that the daily sums have, each with an index. */
const COLUMNS = {
  keyId: "key_id",
  accountId: "account_id",
  model: "model",
  userId: "user_id",
  provider: "provider",
} as const;
const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

/** The conditions for which an index finds generations, so that no day is read in vain. */
const INDEXED: readonly string[] = ["keyId", "accountId", "model"];

/** The tables of hourly and daily sums, and of daily sums that earlier versions have saved. */
const TABLES = ["usage_sums", "usage_days"];

/** How often a day that matches some of the conditions leads to an earlier day that may match all. */
const MAX_STEPS = 8;

/** Later than every day with a partition. */
const LATEST_DAY = 2_000_000;

/** The position from which a list continues. */
interface ListPosition {
  /** The list continues before this id; null: from the newest generation on. */
  readonly before: string | null;
  /** No generation that may still be listed matches. */
  readonly isOver: boolean;
}

/**
 * Returns where a list continues that has reached an id: there, or where the earlier days begin that can have a match according to the
 * daily sums.
 */
export async function skipDays(
  sql: SqlRunner,
  filter: GenerationFilter,
  before: string | null,
): Promise<ListPosition> {
  const stay: ListPosition = { before, isOver: false };
  const given = NAMES.filter((name) => filter[name] !== null);
  const [only, another] = given;
  const isRead = only === undefined || (another === undefined && INDEXED.includes(only));
  if (isRead && filter.teamId === null) return stay;
  const ms = before === null ? null : readIdTime(before);
  if (before !== null && ms === null) return stay;
  const day = Math.min(
    ms === null ? LATEST_DAY : dayOf(ms + ID_MARGIN_MS),
    filter.toMs === null ? LATEST_DAY : dayOf(filter.toMs + ID_MARGIN_MS),
  );
  const found = await findDay(sql, filter, day);
  if (found === day) return stay;
  const target = found === null ? "" : lowestIdAt("gen", (found + 1) * DAY_MS + ID_MARGIN_MS);
  if (before !== null && target >= before) return stay;
  const open = mayBeOpen(filter) ? await findOpen(sql, { target, before }) : null;
  if (open !== null) return before !== null && open >= before ? stay : { before: open, isOver: false };
  return { before: target, isOver: target === "" };
}

/** Returns the latest day up to `day` that may have a match: no later one has. Null if there is no such day. */
async function findDay(sql: SqlRunner, filter: GenerationFilter, day: number): Promise<number | null> {
  const given = NAMES.filter((name) => filter[name] !== null);
  const latest = given.map((name, at) => {
    const latestIn = (table: string) =>
      `(SELECT max(day) FROM ${table} WHERE ${COLUMNS[name]} = $${at + 2} AND day <= $1)`;
    return `greatest(${TABLES.map(latestIn).join(", ")})`;
  });
  const values: PostgresValue[] = given.map((name) => filter[name]);
  if (filter.teamId !== null) {
    latest.push(latestOfTeam(`$${given.length + 2}`));
    values.push(filter.teamId);
  }
  let found = day;
  for (let step = 0; step < MAX_STEPS; step++) {
    const [row] = await sql.run<Record<string, number | null>>(
      `SELECT ${latest.map((text, at) => `${text} AS day${at}`).join(", ")}`,
      [found, ...values],
    );
    const days = Object.values(row ?? {});
    if (days.length === 0 || days.includes(null)) return null;
    const earliest = Math.min(...(days as number[]));
    if (earliest === found) break;
    found = earliest;
    if (days.length === 1) break;
  }
  return found;
}

/** The maximum number of keys of a team whose days are looked up. */
const MAX_TEAM_KEYS = 5_000;

/** Returns the expression of the latest day up to `$1` with a request of a key of a team. If the team has too many keys, it is `$1`. */
function latestOfTeam(teamId: string): string {
  const ofKey = (table: string) => `(SELECT max(day) FROM ${table} WHERE key_id = keys.id AND day <= $1)`;
  return `(SELECT CASE WHEN count(*) = ${MAX_TEAM_KEYS} THEN $1 ELSE max(greatest(${TABLES.map(ofKey).join(", ")})) END
    FROM (SELECT id FROM api_keys WHERE team_id = ${teamId} LIMIT ${MAX_TEAM_KEYS}) AS keys)`;
}

/** No sum has generations that are open. They have no error. */
function mayBeOpen({ outcome, errorType }: GenerationFilter): boolean {
  return errorType === null && (outcome === null || outcome === "open");
}

/** Returns the position of the latest open generation between two ids, where a list continues; null if there is none. */
async function findOpen(
  sql: SqlRunner,
  { target, before }: { readonly target: string; readonly before: string | null },
): Promise<string | null> {
  const days = [target === "" ? 0 : dayOfId(target), before === null ? LATEST_DAY : dayOfId(before)];
  const [row] = await sql.run<{ id: string }>(
    // Few are open, and an index has only those. The planner would rather read all generations in order until one is open.
    `SELECT id FROM (
       SELECT id FROM generations WHERE outcome = 'open' AND day >= $1 AND day <= $2 AND id >= $3
       ${before === null ? "" : "AND id < $4"} OFFSET 0
     ) AS open ORDER BY id DESC LIMIT 1`,
    [...days, target, ...(before === null ? [] : [before])],
  );
  return row === undefined ? null : lowestIdAt("gen", (readIdTime(row.id) ?? 0) + 1);
}
