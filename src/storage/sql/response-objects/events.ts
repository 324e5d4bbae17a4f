import type { EventGroup } from "../../../core/response-objects/records/response-object.ts";
import type { Run } from "../../../core/response-objects/records/response-store.ts";
import type { SqlDatabase } from "../statements/database.ts";
import { dayOfId } from "../statements/day-of-id.ts";
import { join, sql, type Work } from "../statements/statement.ts";
import { type Integer, readInteger } from "../statements/values.ts";
import { isObject, runsAt } from "./object-rows.ts";

/** The number of groups that one statement writes. */
const WRITTEN_AT_ONCE = 16;

/**
 * Adds groups of events of a response, and returns whether it still runs there. Until the transaction ends, no process ends or releases the
 * response, so that nothing follows its last event.
 */
export function* addEvents({ id, gatewayId }: Run, groups: readonly EventGroup[]): Work<boolean> {
  const running = yield* sql`SELECT 1 AS one FROM response_objects AS o
    WHERE ${isObject(id)} AND ${runsAt(gatewayId)} FOR UPDATE`;
  if (running.length === 0) return false;
  for (let from = 0; from < groups.length; from += WRITTEN_AT_ONCE) {
    const rows = groups
      .slice(from, from + WRITTEN_AT_ONCE)
      .map(({ first, last, ciphertext }) => sql`(${dayOfId(id)}, ${id}, ${first}, ${last}, ${ciphertext})`);
    yield* sql`INSERT INTO response_events (day, response_id, first_event, last_event, ciphertext)
      VALUES ${join(rows, ", ")} ON CONFLICT DO NOTHING`;
  }
  return true;
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
    first: readInteger(first_event),
    last: readInteger(last_event),
    ciphertext,
  }));
}
