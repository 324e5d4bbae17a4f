import { readIdTime } from "../../../base/secrets/ids.ts";
import type { ObjectOwner } from "../../../core/response-objects/records/response-object.ts";
import type { ObjectQuery } from "../../../core/response-objects/records/response-store.ts";
import type { SqlDatabase, SqlTraits } from "../statements/database.ts";
import { dayOfId } from "../statements/day-of-id.ts";
import { raw, type Sql, type SqlValue, sql, where } from "../statements/statement.ts";
import { groupByDay, isObject, OBJECTS_IN_CHAINS, selectHeads, selectObjects } from "./object-rows.ts";

/** The condition that an object `o` is the one before that of a row `chain`. Sequence numbers end every walk. */
const IS_PREVIOUS = `o.day = chain.previous_day AND o.id = chain.previous_id
  AND o.root_id = chain.root_id AND o.sequence = chain.sequence - 1`;

/** How a row `chain` is joined with the object `o` before it. */
export const JOIN_PREVIOUS = {
  plain: raw(`JOIN response_objects AS o ON ${IS_PREVIOUS}`),
  /** Reads one row of one partition in each step, whatever the sizes of tables let PostgreSQL expect of a join. */
  lateral: raw(`CROSS JOIN LATERAL (SELECT * FROM response_objects AS o WHERE ${IS_PREVIOUS} LIMIT 1) AS o`),
} as const;

/** Returns the statement that reads an object and all before it in its chain, the root first. */
export function selectChain(id: string, now: number, joinPrevious: Sql): ReturnType<typeof selectObjects> {
  return sql`WITH RECURSIVE chain AS (
      ${selectObjects(sql`WHERE ${isObject(id)} AND c.expires_at > ${now}`)}
      UNION ALL
      SELECT o.*, chain.expires_at FROM chain ${joinPrevious})
    SELECT * FROM chain ORDER BY sequence`;
}

/** Returns the statement that reads the objects of a conversation in their order. */
export function selectConversation(id: string, now: number) {
  return selectObjects(
    sql`WHERE o.root_id = ${id} AND o.conversation_id = ${id} AND c.expires_at > ${now}
      AND o.day BETWEEN c.first_day AND c.last_day ORDER BY o.sequence`,
  );
}

/** Returns the statement that reads the heads of a chain, the root first. The days let PostgreSQL leave out other partitions. */
export function selectHeadsOfChain(rootId: string, now: number, limit: number) {
  return selectHeads(
    sql`WHERE o.root_id = ${rootId} AND c.expires_at > ${now} AND o.day BETWEEN c.first_day AND c.last_day
      ORDER BY o.sequence, o.created_at, o.id LIMIT ${limit}::bigint`,
  );
}

/** Returns the statement that reads heads of an account, the newest first. */
export function listHeads(query: ObjectQuery, now: number) {
  const { accountId, userId, keyId, conversationId, isBackground, status, before, limit } = query;
  const conditions = where(
    sql`c.expires_at > ${now}`,
    equals("o.account_id", accountId),
    equals("o.user_id", userId),
    equals("o.key_id", keyId),
    equals("o.conversation_id", conversationId),
    equals("o.is_background", isBackground),
    equals("o.status", status),
    before === null ? null : isBefore(before),
  );
  return selectHeads(
    sql`${conditions} ORDER BY o.day DESC, o.created_at DESC, o.id DESC LIMIT ${limit}::bigint`,
  );
}

/** The first condition says it all. The second one lets PostgreSQL leave out partitions of later days. */
function isBefore(id: string): Sql {
  const day = dayOfId(id);
  return sql`(o.day, o.created_at, o.id) < (${day}, ${readIdTime(id) ?? 0}, ${id}) AND o.day <= ${day}`;
}

function equals(column: string, value: SqlValue): Sql | null {
  return value === null ? null : sql`${raw(column)} = ${value}`;
}

/** The maximum number of objects with some items among which the newest are looked for. */
const MAX_MATCHES = 10_000;

/** What to look for. */
interface ItemQuery {
  readonly owner: ObjectOwner;
  readonly itemIds: readonly string[];
  /** Undefined: in all conversations, and outside of them. */
  readonly conversationId: string | undefined;
  readonly now: number;
}

/** Returns statements that read the head of the newest object of an owner for each of some items. Each reads one partition. */
export async function findByItems(
  database: SqlDatabase,
  query: ItemQuery,
): Promise<readonly ReturnType<typeof selectHeads>[]> {
  const { owner, itemIds } = query;
  const matches = await database.run(
    sql<{ item_id: string; id: string }>`SELECT item_id, object_id AS id FROM response_items
      WHERE ${database.traits.isOneOf("item_id", itemIds)} AND account_id = ${owner.accountId}
      LIMIT ${MAX_MATCHES}::bigint`,
  );
  const newest = new Map<string, string>();
  const itemsOf = Map.groupBy(matches, ({ id }) => id);
  for (const id of await findOwned(database, query, [...itemsOf.keys()]))
    for (const { item_id } of itemsOf.get(id) ?? []) if (!newest.has(item_id)) newest.set(item_id, id);
  return groupByDay([...new Set(newest.values())]).map((ofDay) =>
    selectHeads(whereOfDay(database.traits, ofDay, query.now)),
  );
}

/** Returns the ids of those objects that belong to an owner and have not expired, the newest first. */
async function findOwned(
  { run, traits }: SqlDatabase,
  { owner, conversationId, now }: ItemQuery,
  ids: readonly string[],
): Promise<readonly string[]> {
  const owned: string[] = [];
  for (const ofDay of groupByDay(ids).reverse()) {
    const rows = await run(
      sql<{ id: string }>`SELECT o.id FROM ${OBJECTS_IN_CHAINS} ${whereOfDay(traits, ofDay, now)}
        AND ${isOwnedBy(owner)} ${isIn(conversationId)} ORDER BY o.created_at DESC, o.id DESC`,
    );
    owned.push(...rows.map(({ id }) => id));
  }
  return owned;
}

/** Returns the WHERE clause of objects of a day that have not expired. */
function whereOfDay(traits: SqlTraits, [day, ids]: [number, string[]], now: number): Sql {
  return sql`WHERE o.day = ${day} AND ${traits.isOneOf("o.id", ids)} AND c.expires_at > ${now}`;
}

function isIn(conversationId: string | undefined): Sql {
  return conversationId === undefined ? sql`` : sql`AND o.conversation_id = ${conversationId}`;
}

/** Returns the condition that an object `o` belongs to its owner: to the person, or to the key if it has none. */
function isOwnedBy({ userId, keyId }: ObjectOwner): Sql {
  return userId === null ? sql`o.user_id IS NULL AND o.key_id = ${keyId}` : sql`o.user_id = ${userId}`;
}
