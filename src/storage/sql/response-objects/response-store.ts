import type { SealedSecret } from "../../../core/provider-keys/records.ts";
import type {
  Conversation,
  EventGroup,
  ObjectHead,
  ObjectOwner,
  StoredObject,
} from "../../../core/response-objects/records/response-object.ts";
import type {
  ObjectChange,
  ObjectQuery,
  ResponseStore,
  Run,
} from "../../../core/response-objects/records/response-store.ts";
import type { StepReport } from "../../../core/usage/records/retention.ts";
import type { SqlDatabase } from "../statements/database.ts";
import { dayOfId } from "../statements/day-of-id.ts";
import { type Sql, sql, type Work } from "../statements/statement.ts";
import { type Integer, readInteger, readNullableInteger } from "../statements/values.ts";
import { extendChain } from "./chains.ts";
import {
  addConversation,
  addObject,
  changeConversation,
  changeObject,
  replaceContent,
} from "./change-objects.ts";
import { addEvents, readEvents } from "./events.ts";
import {
  findByItems,
  listHeads,
  selectChain,
  selectConversation,
  selectHeadsOfChain,
} from "./find-objects.ts";
import {
  IS_RUNNING,
  isObject,
  readConversation,
  readHead,
  readObject,
  selectConversations,
  selectHeads,
  selectObjects,
} from "./object-rows.ts";
import { deleteExpired, removeConversations, removeObjects, subtractBytes } from "./remove-objects.ts";
import { listMasterKeysInUse, listSealedByOthers } from "./sealed-rows.ts";

/** Response objects, conversations and the events of running responses. */
export abstract class SqlResponseStore implements ResponseStore {
  /** How each step along a chain reads the object before (`JOIN_PREVIOUS`). */
  protected abstract readonly joinPrevious: Sql;

  constructor(protected readonly database: SqlDatabase) {}

  abstract releaseSpace(firstKept: number): Promise<StepReport>;

  addObject(object: StoredObject, itemIds: readonly string[], maxAccountBytes: number) {
    return addObject(this.database, { object, itemIds, maxAccountBytes });
  }

  changeObject(run: Run, change: ObjectChange, itemIds: readonly string[]) {
    const { traits } = this.database;
    return this.database.transaction(() => changeObject(traits, run, { change, itemIds }));
  }

  replaceContent(
    before: Pick<StoredObject, "id" | "ciphertext">,
    content: Parameters<ResponseStore["replaceContent"]>[1],
    removedItemIds: readonly string[],
  ) {
    const { traits } = this.database;
    return this.database.transaction(() => replaceContent(traits, before, { content, removedItemIds }));
  }

  async findObject(id: string, now: number) {
    const [row] = await this.database.run(
      selectObjects(sql`WHERE ${isObject(id)} AND c.expires_at > ${now}`),
    );
    return row === undefined ? null : readObject(row);
  }

  async findHead(id: string, now: number) {
    const [row] = await this.database.run(selectHeads(sql`WHERE ${isObject(id)} AND c.expires_at > ${now}`));
    return row === undefined ? null : readHead(row);
  }

  async readChain(id: string, now: number) {
    const rows = await this.database.run(selectChain(id, now, this.joinPrevious));
    const chain = rows.map(readObject);
    return chain[0]?.previousId === null ? chain : [];
  }

  async readConversation(id: string, now: number) {
    return (await this.database.run(selectConversation(id, now))).map(readObject);
  }

  async listChain(rootId: string, now: number, limit: number) {
    return (await this.database.run(selectHeadsOfChain(rootId, now, limit))).map(readHead);
  }

  async findLast(conversationId: string, now: number) {
    const [row] = await this.database.run(
      selectHeads(
        sql`JOIN response_places AS p ON p.day = o.day AND p.object_id = o.id
          WHERE p.conversation_id = ${conversationId} AND c.expires_at > ${now} ORDER BY p.sequence DESC LIMIT 1`,
      ),
    );
    return row === undefined ? null : readHead(row);
  }

  async findByItems(owner: ObjectOwner, itemIds: readonly string[], now: number, conversationId?: string) {
    if (itemIds.length === 0) return [];
    const found: ObjectHead[] = [];
    for (const statement of await findByItems(this.database, { owner, itemIds, now, conversationId }))
      found.push(...(await this.database.run(statement)).map(readHead));
    return found;
  }

  async listHeads(query: ObjectQuery, now: number) {
    return (await this.database.run(listHeads(query, now))).map(readHead);
  }

  async deleteObject(id: string) {
    const { traits } = this.database;
    const removed = await this.database.transaction(function* () {
      return yield* subtractBytes(traits, yield* removeObjects(traits, isObject(id), 1));
    });
    return removed > 0;
  }

  async touchChain(rootId: string, expiresAt: number) {
    await this.database.run(extendChain(rootId, expiresAt));
  }

  async sumBytes(accountId: string) {
    const [row] = await this.database.run(
      sql<{ bytes: Integer }>`SELECT bytes FROM response_accounts WHERE account_id = ${accountId}`,
    );
    return readInteger(row?.bytes ?? 0);
  }

  addConversation(conversation: Conversation, maxAccountBytes: number) {
    return addConversation(this.database, conversation, maxAccountBytes);
  }

  async findConversation(id: string, now: number) {
    const [row] = await this.database.run(
      selectConversations(sql`WHERE v.id = ${id} AND c.expires_at > ${now}`),
    );
    return row === undefined ? null : readConversation(row);
  }

  changeConversation(id: string, content: Pick<Conversation, "ciphertext" | "bytes">) {
    const { traits } = this.database;
    return this.database.transaction(() => changeConversation(traits, id, content));
  }

  deleteItemsOf(conversationId: string, limit: number) {
    const { traits } = this.database;
    const isOne = sql`o.root_id = ${conversationId} AND o.conversation_id = ${conversationId} AND o.kind = 'items'`;
    return this.database.transaction(function* () {
      return yield* subtractBytes(traits, yield* removeObjects(traits, isOne, limit));
    });
  }

  async deleteConversation(id: string) {
    const { traits } = this.database;
    const removed = await this.database.transaction(function* () {
      return yield* subtractBytes(traits, yield* removeConversations(traits, sql`v.id = ${id}`, 1));
    });
    return removed > 0;
  }

  async requestCancel(id: string) {
    const running = await this.database.run(
      sql`UPDATE response_objects AS o SET is_cancel_requested = ${true}
        WHERE ${isObject(id)} AND ${IS_RUNNING} RETURNING 1 AS one`,
    );
    return running.length > 0;
  }

  async listRunning(gatewayId: string) {
    const rows = await this.database.run(
      selectHeads(sql`WHERE ${IS_RUNNING} AND o.gateway_id = ${gatewayId}`),
    );
    return rows.map(readHead);
  }

  async listRunningGateways() {
    const rows = await this.database.run(
      sql<{ id: string }>`SELECT DISTINCT o.gateway_id AS id FROM response_objects AS o
        WHERE ${IS_RUNNING} AND o.gateway_id IS NOT NULL`,
    );
    return rows.map(({ id }) => id);
  }

  async releaseRunning(gatewayId: string) {
    await this.database.run(
      sql`UPDATE response_objects AS o SET gateway_id = NULL WHERE ${IS_RUNNING} AND o.gateway_id = ${gatewayId}`,
    );
  }

  async listReleased(afterId: string | null, limit: number) {
    const rows = await this.database.run(
      selectObjects(
        sql`WHERE ${IS_RUNNING} AND o.gateway_id IS NULL AND o.id > ${afterId ?? ""}
          ORDER BY o.id LIMIT ${limit}::bigint`,
      ),
    );
    return rows.map(readObject);
  }

  addEvents(run: Run, groups: readonly EventGroup[]) {
    return this.database.transaction(() => addEvents(run, groups));
  }

  readEvents(responseId: string, from: number, limit: number) {
    return readEvents(this.database, responseId, { from, limit });
  }

  async findNextExpiry() {
    const [row] = await this.database.run(
      sql<{ at: Integer | null }>`SELECT min(expires_at) AS at FROM response_chains`,
    );
    return readNullableInteger(row?.at ?? null);
  }

  async limitExpiry(latest: number, limit: number) {
    // Chains that are being used are limited by a later call.
    const limited = await this.database.run(
      sql`UPDATE response_chains SET expires_at = ${latest} WHERE root_id IN
          (SELECT root_id FROM response_chains WHERE expires_at > ${latest}
            LIMIT ${limit}::bigint FOR UPDATE SKIP LOCKED)
        RETURNING 1 AS one`,
    );
    return limited.length;
  }

  deleteExpired(now: number, limit: number) {
    return this.database.transaction(() => deleteExpired(this.database.traits, now, limit));
  }

  deleteOfAccount(accountId: string, limit: number) {
    const { traits } = this.database;
    return this.database.transaction(function* (): Work<number> {
      const conversations = yield* removeConversations(traits, sql`v.account_id = ${accountId}`, limit);
      const left = limit - conversations.length;
      const objects = left === 0 ? [] : yield* removeObjects(traits, sql`o.account_id = ${accountId}`, left);
      const removed = yield* subtractBytes(traits, [...conversations, ...objects]);
      if (removed < limit)
        yield* sql`DELETE FROM response_accounts WHERE account_id = ${accountId} AND bytes = 0`;
      return removed;
    });
  }

  async listAccounts(afterId: string | null, limit: number) {
    const rows = await this.database.run(
      sql<{ id: string }>`SELECT account_id AS id FROM response_accounts
        WHERE account_id > ${afterId ?? ""} ORDER BY account_id LIMIT ${limit}::bigint`,
    );
    return rows.map(({ id }) => id);
  }

  listSealedByOthers(masterKeyId: string, afterId: string | null, limit: number) {
    return listSealedByOthers(this.database, { masterKeyId, afterId, limit });
  }

  async reseal(id: string, before: SealedSecret, after: SealedSecret) {
    const set = sql`SET master_key_id = ${after.masterKeyId}, sealed_key = ${after.ciphertext}`;
    const isStill = sql`master_key_id = ${before.masterKeyId} AND sealed_key = ${before.ciphertext}`;
    const objects = await this.database.run(
      sql`UPDATE response_objects ${set} WHERE day = ${dayOfId(id)} AND id = ${id} AND ${isStill} RETURNING 1 AS one`,
    );
    if (objects.length > 0) return true;
    const conversations = await this.database.run(
      sql`UPDATE response_conversations ${set} WHERE id = ${id} AND ${isStill} RETURNING 1 AS one`,
    );
    return conversations.length > 0;
  }

  listMasterKeysInUse() {
    return listMasterKeysInUse(this.database);
  }
}
