import type { SqlTraits } from "../statements/database.ts";
import { type Sql, sql, type Work } from "../statements/statement.ts";
import { type Integer, readInteger } from "../statements/values.ts";
import { type AccountBytes, addBytes, deleteEmptyChains, leaveChains } from "./chains.ts";
import { groupByDay } from "./object-rows.ts";

/** An object that is deleted, and its chain. */
interface FoundObject {
  readonly id: string;
  readonly root_id: string;
}

interface RemovedObject extends AccountBytes {
  readonly root_id: string;
  readonly conversation_id: string | null;
  readonly sequence: Integer;
}

/** Deletes the objects that meet a condition on objects `o`, up to a number. Who calls it subtracts their bytes (`subtractBytes`). */
export function* removeObjects(
  traits: SqlTraits,
  condition: Sql,
  limit: number,
): Work<readonly AccountBytes[]> {
  const found = yield* sql<FoundObject>`SELECT o.id, o.root_id FROM response_objects AS o
    WHERE ${condition} LIMIT ${limit}::bigint`;
  if (found.length === 0) return [];
  const rootIds = found.map(({ root_id }) => root_id);
  yield* sql`SELECT 1 AS one FROM response_chains WHERE ${traits.isOneOf("root_id", rootIds)}
    ORDER BY root_id FOR UPDATE`;
  return yield* removeLocked(traits, found);
}

/** Deletes the conversations that meet a condition on conversations `v`, up to a number. Their objects stay. Who calls it subtracts their bytes. */
export function* removeConversations(
  traits: SqlTraits,
  condition: Sql,
  limit: number,
): Work<readonly AccountBytes[]> {
  const found = yield* sql<{ id: string }>`SELECT v.id FROM response_conversations AS v
    JOIN response_chains AS c ON c.root_id = v.id
    WHERE ${condition} ORDER BY v.id LIMIT ${limit}::bigint FOR UPDATE OF c`;
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  const removed =
    yield* sql<AccountBytes>`DELETE FROM response_conversations WHERE ${traits.isOneOf("id", ids)}
    RETURNING account_id, bytes`;
  yield* deleteEmptyChains(traits, ids);
  return removed;
}

interface ExpiredChain {
  readonly root_id: string;
  readonly first_day: number | null;
  readonly last_day: number | null;
}

/**
 * Deletes up to a number of objects and conversations of expired chains, and returns how many. Chains that are being used are skipped, and
 * those that another process deletes.
 */
export function* deleteExpired(traits: SqlTraits, now: number, limit: number): Work<number> {
  const chains = yield* sql<ExpiredChain>`SELECT root_id, first_day, last_day FROM response_chains
    WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${limit}::bigint FOR UPDATE SKIP LOCKED`;
  const rootIds = chains.map(({ root_id }) => root_id);
  if (rootIds.length === 0) return 0;
  const objects = yield* removeLocked(traits, yield* findInChains(chains, limit));
  const left = limit - objects.length;
  // All of their objects are gone.
  const conversations =
    left <= 0 ? [] : yield* removeConversations(traits, traits.isOneOf("v.id", rootIds), left);
  return yield* subtractBytes(traits, [...objects, ...conversations]);
}

/** Subtracts what was removed from the sums of accounts, and returns how many rows that were. The transaction locks nothing afterwards. */
export function* subtractBytes(traits: SqlTraits, removed: readonly AccountBytes[]): Work<number> {
  const subtracted = ({ bytes }: AccountBytes) => -readInteger(bytes);
  if (removed.length > 0)
    yield* addBytes(
      traits,
      sumBy(removed, ({ account_id }) => account_id, subtracted),
    );
  return removed.length;
}

/**
 * Finds objects of chains. Each chain is read by the index, which PostgreSQL would not use for several at a time, because it knows nothing of
 * their lengths. The days let it leave out other partitions.
 */
function* findInChains(chains: readonly ExpiredChain[], limit: number): Work<readonly FoundObject[]> {
  const found: FoundObject[] = [];
  for (const { root_id, first_day, last_day } of chains) {
    if (first_day === null || found.length >= limit) continue;
    found.push(
      ...(yield* sql<FoundObject>`SELECT o.id, o.root_id FROM response_objects AS o
        WHERE o.root_id = ${root_id} AND o.day BETWEEN ${first_day} AND ${last_day}
        ORDER BY o.sequence LIMIT ${limit - found.length}::bigint`),
    );
  }
  return found;
}

/** Deletes objects with everything that belongs to them. The transaction has locked their chains. */
function* removeLocked(traits: SqlTraits, found: readonly FoundObject[]): Work<readonly AccountBytes[]> {
  const removed: RemovedObject[] = [];
  for (const [day, ids] of groupByDay(found.map(({ id }) => id)))
    removed.push(...(yield* deleteOfDay(traits, day, ids)));
  if (removed.length === 0) return removed;
  yield* leavePlaces(traits, removed);
  const one = () => 1;
  yield* leaveChains(
    traits,
    sumBy(removed, ({ root_id }) => root_id, one),
  );
  return removed;
}

/** Deletes objects of a day with their ids of items and events. */
function* deleteOfDay(
  { isOneOf }: SqlTraits,
  day: number,
  ids: readonly string[],
): Work<readonly RemovedObject[]> {
  const removed =
    yield* sql<RemovedObject>`DELETE FROM response_objects WHERE day = ${day} AND ${isOneOf("id", ids)}
    RETURNING account_id, root_id, conversation_id, sequence, bytes`;
  yield* sql`DELETE FROM response_items WHERE ${isOneOf("object_id", ids)}`;
  yield* sql`DELETE FROM response_events WHERE day = ${day} AND ${isOneOf("response_id", ids)}`;
  return removed;
}

/** Lets the places of removed objects in their conversations be taken again. */
function* leavePlaces(traits: SqlTraits, removed: readonly RemovedObject[]): Work<void> {
  const left = removed.filter(({ conversation_id }) => conversation_id !== null);
  if (left.length === 0) return;
  const rows = left.map(({ conversation_id, sequence }) => [conversation_id, readInteger(sequence)]);
  const list = traits.listAs("gone", { conversation_id: "text", sequence: "bigint" }, rows);
  yield* sql`DELETE FROM response_places WHERE (conversation_id, sequence) IN
    (SELECT gone.conversation_id, gone.sequence FROM ${list})`;
}

function sumBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  amountOf: (row: Row) => number,
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + amountOf(row));
  return sums;
}
