import type { Conversation, StoredObject } from "../../../core/response-objects/records/response-object.ts";
import type {
  AddOutcome,
  ObjectChange,
  ResponseStore,
  Run,
} from "../../../core/response-objects/records/response-store.ts";
import type { SqlDatabase, SqlTraits } from "../statements/database.ts";
import { dayOfId } from "../statements/day-of-id.ts";
import { type Sql, sql, type Work } from "../statements/statement.ts";
import { type Integer, readInteger } from "../statements/values.ts";
import { type AccountBytes, addBytes, putChain } from "./chains.ts";
import {
  IS_RUNNING,
  insertConversation,
  insertObject,
  isObject,
  runsAt,
  setChange,
  setContent,
} from "./object-rows.ts";

/** Undoes the transaction of an object that is not added. */
class NotAddedError extends Error {
  constructor(readonly outcome: AddOutcome) {
    super(outcome);
  }
}

/** An object that is added, and the bytes that its account may have. */
interface Addition {
  readonly object: StoredObject;
  readonly itemIds: readonly string[];
  readonly maxAccountBytes: number;
}

/** Adds an object in one transaction, which is undone if the object is there already, its place is taken, or the account is full. */
export function addObject(database: SqlDatabase, addition: Addition): Promise<AddOutcome> {
  return addWhole(database, () => insertAll(database.traits, addition));
}

/** Runs a transaction that adds something, or is undone by a `NotAddedError`. */
async function addWhole(database: SqlDatabase, insert: () => Work<void>): Promise<AddOutcome> {
  try {
    await database.transaction(insert);
    return "added";
  } catch (error) {
    if (error instanceof NotAddedError) return error.outcome;
    throw error;
  }
}

function* insertAll(traits: SqlTraits, { object, itemIds, maxAccountBytes }: Addition): Work<void> {
  const { id, rootId, expiresAt, conversationId, sequence } = object;
  const day = dayOfId(id);
  yield* putChain({ rootId, expiresAt, day });
  if (conversationId !== null) yield* takePlace(conversationId, sequence, object);
  const inserted = yield* insertObject(object);
  // A call whose answer was lost is repeated.
  if (inserted.length === 0) throw new NotAddedError("added");
  if (itemIds.length > 0) yield* addItems(traits, object, itemIds);
  yield* takeRoom(traits, object, maxAccountBytes);
}

/** Adds the bytes of what was added to the sum of its account. */
function* takeRoom(
  traits: SqlTraits,
  { accountId, bytes }: { readonly accountId: string; readonly bytes: number },
  maxAccountBytes: number,
): Work<void> {
  const [sum] = yield* addBytes(traits, new Map([[accountId, bytes]]));
  if (readInteger(sum?.bytes ?? 0) > maxAccountBytes) throw new NotAddedError("full");
}

/** Takes a place in a conversation for an object. */
function* takePlace(conversationId: string, sequence: number, { id }: StoredObject): Work<void> {
  const taken = yield* sql`INSERT INTO response_places (conversation_id, sequence, day, object_id)
    VALUES (${conversationId}, ${sequence}, ${dayOfId(id)}, ${id}) ON CONFLICT DO NOTHING RETURNING 1 AS one`;
  if (taken.length > 0) return;
  const [holder] = yield* sql<{ object_id: string }>`SELECT object_id FROM response_places
    WHERE conversation_id = ${conversationId} AND sequence = ${sequence}`;
  throw new NotAddedError(holder?.object_id === id ? "added" : "taken");
}

function addItems(
  traits: SqlTraits,
  { id, accountId }: Pick<StoredObject, "id" | "accountId">,
  itemIds: readonly string[],
): Sql {
  const list = traits.listAs(
    "item",
    { id: "text" },
    itemIds.map((itemId) => [itemId]),
  );
  return sql`INSERT INTO response_items (object_id, item_id, account_id)
    SELECT ${id}::text, item.id, ${accountId}::text FROM ${list} WHERE true
    ON CONFLICT DO NOTHING`;
}

/** Changes a running response, its items, and the sum of its account. Returns whether it still runs there. */
export function* changeObject(
  traits: SqlTraits,
  { id, gatewayId }: Run,
  { change, itemIds }: { readonly change: ObjectChange; readonly itemIds: readonly string[] },
): Work<boolean> {
  const before = yield* lockObject(id, runsAt(gatewayId));
  if (before === null) return false;
  yield* update(traits, before, { set: setChange(change), bytes: change.bytes });
  if (itemIds.length > 0) yield* addItems(traits, before, itemIds);
  return true;
}

/** Replaces the contents of an object that does not run, and removes ids of items. Returns whether it had the former contents. */
export function* replaceContent(
  traits: SqlTraits,
  { id, ciphertext }: Pick<StoredObject, "id" | "ciphertext">,
  {
    content,
    removedItemIds,
  }: {
    readonly content: Parameters<ResponseStore["replaceContent"]>[1];
    readonly removedItemIds: readonly string[];
  },
): Work<boolean> {
  const before = yield* lockObject(id, sql`NOT (${IS_RUNNING}) AND o.ciphertext = ${ciphertext}`);
  if (before === null) return false;
  yield* update(traits, before, { set: setContent(content), bytes: content.bytes });
  if (removedItemIds.length > 0)
    yield* sql`DELETE FROM response_items WHERE object_id = ${id}
      AND ${traits.isOneOf("item_id", removedItemIds)}`;
  return true;
}

interface LockedObject {
  readonly id: string;
  readonly accountId: string;
  readonly bytes: number;
}

/** Locks an object that meets a condition. */
function* lockObject(id: string, condition: Sql): Work<LockedObject | null> {
  const [row] = yield* sql<{ account_id: string; bytes: Integer }>`
    SELECT o.account_id, o.bytes FROM response_objects AS o WHERE ${isObject(id)} AND ${condition} FOR UPDATE`;
  return row === undefined ? null : { id, accountId: row.account_id, bytes: readInteger(row.bytes) };
}

/** Changes the columns of a locked object, and adds the difference of its bytes to the sum of its account. */
function* update(
  traits: SqlTraits,
  { id, accountId, bytes: before }: LockedObject,
  { set, bytes }: { readonly set: Sql; readonly bytes: number },
): Work<void> {
  yield* sql`UPDATE response_objects AS o ${set} WHERE ${isObject(id)}`;
  if (bytes !== before) yield* addBytes(traits, new Map([[accountId, bytes - before]]));
}

/** Adds a conversation, which is a chain without objects. Nothing changes if it exists, or if the account is full. */
export function addConversation(
  database: SqlDatabase,
  conversation: Conversation,
  maxAccountBytes: number,
): Promise<AddOutcome> {
  const { id: rootId, expiresAt } = conversation;
  return addWhole(database, function* () {
    yield* putChain({ rootId, expiresAt, day: null });
    const inserted = yield* insertConversation(conversation);
    if (inserted.length === 0) throw new NotAddedError("added");
    yield* takeRoom(database.traits, conversation, maxAccountBytes);
  });
}

/** Replaces the metadata of a conversation. Returns whether it exists. */
export function* changeConversation(
  traits: SqlTraits,
  id: string,
  { ciphertext, bytes }: Pick<Conversation, "ciphertext" | "bytes">,
): Work<boolean> {
  const [before] = yield* sql<AccountBytes>`SELECT account_id, bytes FROM response_conversations
    WHERE id = ${id} FOR UPDATE`;
  if (before === undefined) return false;
  yield* sql`UPDATE response_conversations SET ciphertext = ${ciphertext}, bytes = ${bytes} WHERE id = ${id}`;
  const added = bytes - readInteger(before.bytes);
  if (added !== 0) yield* addBytes(traits, new Map([[before.account_id, added]]));
  return true;
}
