import { fail } from "../../base/failures/errors.ts";
import { type Fields, tryParseFields } from "../../base/json/fields.ts";
import { presentItem } from "../../wire/openai-responses/state/present-item.ts";
import { listItemIds, nameItem } from "./chains/name-items.ts";
import { isTurn, openContent, rejectLocked, requireConversation } from "./chains/open-chain.ts";
import { leaveHandovers, listHandovers } from "./chains/own-compactions.ts";
import type { Reading } from "./chains/read-objects.ts";
import type { KeepDeps } from "./keep/keep-deps.ts";
import { rejectFull, rejectLongChain } from "./keep/limits.ts";
import {
  type Conversation,
  type ObjectContent,
  type ObjectOwner,
  RECORD_BYTES,
  RUNNING,
  type StoredObject,
  sizeOf,
} from "./records/response-object.ts";
import { ObjectSeal } from "./records/seal-object.ts";
import { whileReading } from "./records/state-memory.ts";

/** The caller's key-value pairs. */
export type Metadata = Readonly<Record<string, string>>;

/** A conversation as `GET /conversations/{id}` shows it. */
interface ConversationView {
  readonly id: string;
  readonly object: "conversation";
  /** Seconds since the epoch. */
  readonly created_at: number;
  readonly metadata: Metadata;
}

/** How often items are added or deleted anew because others were at the same time. */
const MAX_TRIES = 20;
/** The number of objects that one step deletes. */
const DELETED_AT_ONCE = 50;

/** The conversations of callers. All methods may throw a `StoreError`. */
export class Conversations {
  constructor(private readonly deps: KeepDeps) {}

  /** Creates a conversation with items, which are JSON. @throws GatewayError `payload_too_large`. */
  async create(owner: ObjectOwner, metadata: Metadata, items: readonly string[]): Promise<ConversationView> {
    const { store, ids, vault, random, clock, settings } = this.deps;
    const { accountBytes } = settings();
    const id = ids.next("conv");
    const seal = ObjectSeal.create(vault, random, { id, accountId: owner.accountId });
    const conversation: Conversation = {
      id,
      ...owner,
      sealed: seal.sealed,
      ...sealMetadata(seal, metadata),
      createdAt: clock.now(),
      expiresAt: this.expiresAt(),
    };
    if ((await store.addConversation(conversation, accountBytes)) === "full") rejectFull(accountBytes);
    if (items.length > 0) await this.add(owner, id, items);
    return present(conversation, metadata);
  }

  /** @throws GatewayError `not_found`. */
  async find(owner: ObjectOwner, id: string): Promise<ConversationView> {
    const conversation = await this.require(owner, id);
    return present(conversation, this.openMetadata(conversation));
  }

  /** Replaces the metadata. @throws GatewayError `not_found`. */
  async change(owner: ObjectOwner, id: string, metadata: Metadata): Promise<ConversationView> {
    const conversation = await this.require(owner, id);
    await this.deps.store.changeConversation(id, sealMetadata(this.sealOf(conversation), metadata));
    return present(conversation, metadata);
  }

  /**
   * Deletes a conversation with the items that were added to it without a response, which their owner could not delete afterwards. Its responses stay.
   * @throws GatewayError `not_found`.
   */
  async delete(owner: ObjectOwner, id: string): Promise<void> {
    await this.require(owner, id);
    const { store } = this.deps;
    while ((await store.deleteItemsOf(id, DELETED_AT_ONCE)) >= DELETED_AT_ONCE);
    await store.deleteConversation(id);
  }

  /** Lists its items as JSON, the oldest first. @throws GatewayError `not_found`, and as `StateMemory.take`. */
  async listItems({ caller, id, memory }: Reading): Promise<readonly string[]> {
    await this.require(caller, id);
    const { store, clock } = this.deps;
    const last = await store.findLast(id, clock.now());
    const read = () => store.readConversation(id, clock.now());
    const objects = await whileReading(memory, last?.chainBytes ?? 0, read);
    return objects.filter(isTurn).flatMap((object) => {
      const { input, output } = openContent(this.deps, object);
      return [...input, ...output];
    });
  }

  /** Adds items, which are JSON, at the end, and returns them with their ids. @throws GatewayError `not_found`, `conflict`, `payload_too_large`. */
  async addItems(owner: ObjectOwner, id: string, items: readonly string[]): Promise<readonly string[]> {
    await this.require(owner, id);
    return this.add(owner, id, items);
  }

  /** @throws GatewayError `not_found`. */
  async findItem(owner: ObjectOwner, id: string, itemId: string): Promise<Fields> {
    const { content } = await this.locate(owner, id, itemId);
    const found = [...content.input, ...content.output]
      .map(presentItem)
      .find((item) => item?.["id"] === itemId);
    return found ?? rejectItem(itemId);
  }

  /** Deletes an item, and returns the conversation. @throws GatewayError `not_found`, `conflict`. */
  async deleteItem(owner: ObjectOwner, id: string, itemId: string): Promise<ConversationView> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { object, content } = await this.locate(owner, id, itemId);
      if (RUNNING.includes(object.status)) return rejectLocked(id);
      if (await this.remove(object, content, itemId)) return this.find(owner, id);
    }
    return rejectLocked(id);
  }

  /** Returns whether the item was removed; false if the contents were changed since they were read. */
  private remove(object: StoredObject, content: ObjectContent, itemId: string): Promise<boolean> {
    const isOther = (item: string) => tryParseFields(item)?.["id"] !== itemId;
    const [input, output] = [content.input.filter(isOther), content.output.filter(isOther)];
    const handovers = leaveHandovers(content.handovers, [...input, ...output]);
    const left = { ...content, input, output, handovers };
    const bytes = object.bytes - (sizeOf(content) - sizeOf(left));
    const ciphertext = this.sealOf(object).sealContent(left);
    return this.deps.store.replaceContent(object, { ciphertext, bytes }, [itemId]);
  }

  private async add(owner: ObjectOwner, id: string, items: readonly string[]): Promise<readonly string[]> {
    const { store, clock, ids, settings } = this.deps;
    const named = items.map((item) => nameItem(item, ids));
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const last = await store.findLast(id, clock.now());
      if (last !== null && RUNNING.includes(last.status)) return rejectLocked(id);
      const { accountBytes, chainBytes } = settings();
      const object = this.describe(owner, id, named, last);
      if (object.chainBytes > chainBytes) rejectLongChain(chainBytes);
      const itemIds = listItemIds(named);
      const outcome = await store.addObject(object, itemIds, accountBytes);
      if (outcome === "added") return named;
      if (outcome === "full") return rejectFull(accountBytes);
    }
    return rejectLocked(id);
  }

  private describe(
    owner: ObjectOwner,
    conversationId: string,
    items: readonly string[],
    last: { readonly id: string; readonly sequence: number; readonly chainBytes: number } | null,
  ): StoredObject {
    const { ids, vault, random, clock } = this.deps;
    const id = ids.next("items");
    const seal = ObjectSeal.create(vault, random, { id, accountId: owner.accountId });
    const handovers = listHandovers({ vault, accountId: owner.accountId }, items);
    const content: ObjectContent = { input: items, output: [], response: null, handovers };
    const bytes = sizeOf(content);
    const now = clock.now();
    return {
      ...{ id, kind: "items", ...owner, rootId: conversationId, conversationId },
      sequence: (last?.sequence ?? -1) + 1,
      previousId: last?.id ?? null,
      chainBytes: (last?.chainBytes ?? 0) + bytes,
      ...{ status: "completed", model: null, isBackground: false, gatewayId: null, isCancelRequested: false },
      ...{ bytes, createdAt: now, endedAt: now, expiresAt: this.expiresAt() },
      sealed: seal.sealed,
      ciphertext: seal.sealContent(content),
    };
  }

  private async locate(owner: ObjectOwner, id: string, itemId: string) {
    await this.require(owner, id);
    const { store, clock } = this.deps;
    const [head] = await store.findByItems(owner, [itemId], clock.now(), id);
    const object = head === undefined ? null : await store.findObject(head.id, clock.now());
    if (object === null) return rejectItem(itemId);
    return { object, content: openContent(this.deps, object) };
  }

  private require(owner: ObjectOwner, id: string): Promise<Conversation> {
    return requireConversation(this.deps, owner, { id, field: "conversation_id" });
  }

  private openMetadata(conversation: Conversation): Metadata {
    return JSON.parse(this.sealOf(conversation).openText(conversation.ciphertext)) as Metadata;
  }

  private sealOf(record: Conversation | StoredObject): ObjectSeal {
    const seal = ObjectSeal.open(this.deps.vault, this.deps.random, record);
    return (
      seal ??
      fail("not_found", `${record.id} was encrypted with a master key that this gateway does not have.`)
    );
  }

  private expiresAt(): number {
    return this.deps.clock.now() + this.deps.settings().retentionMs;
  }
}

function sealMetadata(seal: ObjectSeal, metadata: Metadata): Pick<Conversation, "ciphertext" | "bytes"> {
  const text = JSON.stringify(metadata);
  return { ciphertext: seal.sealText(text), bytes: RECORD_BYTES + Buffer.byteLength(text) };
}

function present({ id, createdAt }: Conversation, metadata: Metadata): ConversationView {
  return { id, object: "conversation", created_at: Math.floor(createdAt / 1000), metadata };
}

function rejectItem(id: string): never {
  return fail("not_found", `The conversation has no item ${JSON.stringify(id.slice(0, 100))}.`, {
    metadata: { field: "item_id" },
  });
}
