import type { EventGroup } from "../../../core/response-objects/records/response-object.ts";
import type { SqlDatabase } from "../statements/database.ts";
import { dayOfId } from "../statements/day-of-id.ts";
import { join, sql } from "../statements/statement.ts";
import { type Integer, readInteger } from "../statements/values.ts";

/** The number of groups that one statement writes. */
const WRITTEN_AT_ONCE = 16;

/** Adds groups of events whose responses exist. Existing groups are kept. */
export async function addEvents(database: SqlDatabase, groups: readonly EventGroup[]): Promise<void> {
  for (let from = 0; from < groups.length; from += WRITTEN_AT_ONCE) {
    const rows = groups
      .slice(from, from + WRITTEN_AT_ONCE)
      .map(
        ({ responseId, first, last, ciphertext }) =>
          sql`(${dayOfId(responseId)}::integer, ${responseId}::text, ${first}::bigint, ${last}::bigint, ${ciphertext}::bytea)`,
      );
    // Events of a deleted response would never be deleted.
    await database.run(
      sql`INSERT INTO response_events (day, response_id, first_event, last_event, ciphertext)
        SELECT column1, column2, column3, column4, column5 FROM (VALUES ${join(rows, ", ")}) AS g
        WHERE EXISTS (SELECT 1 FROM response_objects AS o WHERE o.day = column1 AND o.id = column2)
        ON CONFLICT DO NOTHING`,
    );
  }
}

interface EventRow {
  readonly first_event: Integer;
  readonly last_event: Integer;
  readonly ciphertext: Uint8Array;
}

/** Reads groups from the one that contains an event on. */
export async function readEvents(
  database: SqlDatabase,
  responseId: string,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<readonly EventGroup[]> {
  const isResponse = sql`day = ${dayOfId(responseId)} AND response_id = ${responseId}`;
  // The group that contains the event is found by the index, without reading those before it.
  const rows = await database.run(
    sql<EventRow>`SELECT first_event, last_event, ciphertext FROM response_events
      WHERE ${isResponse} AND last_event >= ${from} AND first_event >= coalesce(
        (SELECT max(first_event) FROM response_events WHERE ${isResponse} AND first_event <= ${from}), 0)
      ORDER BY first_event LIMIT ${limit}::bigint`,
  );
  return rows.map(({ first_event, last_event, ciphertext }) => ({
    responseId,
    first: readInteger(first_event),
    last: readInteger(last_event),
    ciphertext,
  }));
}
