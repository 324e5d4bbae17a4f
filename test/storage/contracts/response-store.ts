import { describe, expect, test } from "bun:test";
import { lowestIdAt } from "../../../src/base/secrets/ids.ts";
import { DAY_MS, dayOf } from "../../../src/base/time/time.ts";
import type {
  Conversation,
  StoredObject,
} from "../../../src/core/response-objects/records/response-object.ts";
import type {
  ObjectChange,
  ObjectQuery,
  ResponseStore,
} from "../../../src/core/response-objects/records/response-store.ts";
import type { CreateStore } from "./create-store.ts";

/** Noon of a day. */
export const AT = 19_676 * DAY_MS + DAY_MS / 2;
/** Long after all times of the tests. */
const LATER = AT + 1_000 * DAY_MS;
const MUCH = 1_000_000_000;

/** Returns an id with a time. */
export const idAt = (ms: number, prefix = "gen") => `${lowestIdAt(prefix, ms)}0000000000000000`;

/** Returns an ended response that begins a chain. Its id has the time `AT` and so many milliseconds. */
export function objectAt(ms: number, more: Partial<StoredObject> = {}): StoredObject {
  const id = more.id ?? idAt(AT + ms);
  return {
    id,
    kind: "response",
    status: "completed",
    accountId: "org_a",
    userId: "user_a",
    keyId: "key_a",
    rootId: id,
    sequence: 0,
    previousId: null,
    conversationId: null,
    chainBytes: 10,
    model: "author/model",
    isBackground: false,
    gatewayId: null,
    isCancelRequested: false,
    bytes: 10,
    createdAt: AT + ms,
    endedAt: AT + ms + 1_000,
    expiresAt: LATER,
    sealed: { masterKeyId: "master_1", ciphertext: `key of ${id}` },
    ciphertext: Uint8Array.from([...Buffer.from(`content of ${id}`), 0, 255]),
    ...more,
  };
}

/** Returns the object after another one, which began so many milliseconds after `AT`. */
export function objectAfter(
  before: StoredObject,
  ms: number,
  more: Partial<StoredObject> = {},
): StoredObject {
  return objectAt(ms, {
    rootId: before.rootId,
    sequence: before.sequence + 1,
    previousId: before.id,
    conversationId: before.conversationId,
    chainBytes: before.chainBytes + 10,
    ...more,
  });
}

/** Returns a running background response. */
export const runningAt = (ms: number, more: Partial<StoredObject> = {}) =>
  objectAt(ms, {
    ...{ status: "in_progress", isBackground: true, gatewayId: "gateway_a", endedAt: null },
    ...more,
  });

export function conversationOf(id: string, more: Partial<Conversation> = {}): Conversation {
  return {
    id,
    accountId: "org_a",
    userId: "user_a",
    keyId: "key_a",
    sealed: { masterKeyId: "master_1", ciphertext: `key of ${id}` },
    ciphertext: Uint8Array.of(1, 0, 255),
    bytes: 0,
    createdAt: AT,
    expiresAt: LATER,
    ...more,
  };
}

const OWNER = { accountId: "org_a", userId: "user_a", keyId: "key_a" };
const ALL: ObjectQuery = {
  ...{
    accountId: "org_a",
    userId: null,
    keyId: null,
    conversationId: null,
    isBackground: null,
    status: null,
  },
  ...{ before: null, limit: 100 },
};
const CHANGE: ObjectChange = {
  ...{ status: "completed", gatewayId: null, bytes: 30, chainBytes: 30, endedAt: AT + 9 },
  ciphertext: Uint8Array.of(7),
};

const idsOf = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);

/** Databases return bytes as different classes. */
function plain<Row extends { readonly ciphertext: Uint8Array }>(row: Row | null | undefined): unknown {
  return row == null ? row : { ...row, ciphertext: [...row.ciphertext] };
}

/** The contract of a `ResponseStore`. */
export function testResponseStore(createStore: CreateStore<ResponseStore>): void {
  describe("a store of response objects", () => {
    const create = async (...objects: readonly StoredObject[]) => {
      const store = await createStore();
      for (const object of objects) expect(await store.addObject(object, [], MUCH)).toBe("added");
      return store;
    };

    /** Adds a chain of objects, each a minute after the one before. */
    const addChain = async (store: ResponseStore, length: number, first = objectAt(0)) => {
      const chain = [first];
      for (let last = first; chain.length < length; chain.push(last))
        last = objectAfter(last, chain.length * 60_000);
      for (const object of chain) await store.addObject(object, [], MUCH);
      return chain;
    };

    testObjects(create);
    testChains(create, addChain);
    testBytes(create, createStore);
    testConversations(create);
    testItems(create);
    testHeads(create);
    testRunning(create);
    testEvents(create);
    testExpiry(create, addChain);
    testAccounts(create);
    testSealing(create);
  });
}

type Create = (...objects: readonly StoredObject[]) => Promise<ResponseStore>;
type AddChain = (store: ResponseStore, length: number, first?: StoredObject) => Promise<StoredObject[]>;

function testObjects(create: Create): void {
  test("an object is found as it was added until the moment it expires", async () => {
    const object = runningAt(0, { isCancelRequested: true, expiresAt: AT + 100 });
    const store = await create(object);
    expect(plain(await store.findObject(object.id, AT + 99))).toEqual(plain(object));
    expect(await store.findObject(object.id, AT + 100)).toBeNull();
    expect(await store.findObject(idAt(AT + 1), AT)).toBeNull();
  });

  test("the head of an object is found without its contents until the moment it expires", async () => {
    const object = runningAt(0, { expiresAt: AT + 100 });
    const store = await create(object);
    const { sealed: _sealed, ciphertext: _ciphertext, ...head } = object;
    expect(await store.findHead(object.id, AT + 99)).toEqual(head);
    expect(await store.findHead(object.id, AT + 100)).toBeNull();
    expect(await store.findHead(idAt(AT + 1), AT)).toBeNull();
  });

  test("items of a conversation are found without a model and a person", async () => {
    const items = objectAt(0, { id: idAt(AT, "items"), kind: "items", model: null, userId: null });
    const store = await create(items);
    expect(plain(await store.findObject(items.id, AT))).toEqual(plain(items));
  });

  test("an object that is added again counts as added, and stays as it was", async () => {
    const object = objectAt(0);
    const store = await create(object);
    expect(await store.addObject({ ...object, bytes: 99 }, ["item_1"], MUCH)).toBe("added");
    expect((await store.findObject(object.id, AT))?.bytes).toBe(10);
    expect(await store.sumBytes("org_a")).toBe(10);
    expect(await store.findByItems(OWNER, ["item_1"], AT)).toEqual([]);
  });

  test("a deleted object is gone, and deleting it again changes nothing", async () => {
    const object = objectAt(0);
    const store = await create(object);
    expect(await store.deleteObject(object.id)).toBe(true);
    expect(await store.findObject(object.id, AT)).toBeNull();
    expect(await store.deleteObject(object.id)).toBe(false);
    expect(await store.findNextExpiry()).toBeNull();
  });

  test("the contents of an ended object are replaced, and those of a running one are not", async () => {
    const [ended, running] = [objectAt(0), runningAt(1)];
    const store = await create(ended, running);
    const content = { ciphertext: Uint8Array.of(5), bytes: 4 };
    expect(await store.replaceContent(ended, content, [])).toBe(true);
    expect(plain(await store.findObject(ended.id, AT))).toEqual(plain({ ...ended, ...content }));
    // It was read before that change.
    expect(await store.replaceContent(ended, { ...content, bytes: 3 }, [])).toBe(false);
    expect(await store.replaceContent(running, content, [])).toBe(false);
    expect(await store.replaceContent(objectAt(9), content, [])).toBe(false);
  });
}

function testChains(create: Create, addChain: AddChain): void {
  test("a chain of 200 objects over several days is read from its root to any of its objects", async () => {
    const store = await create();
    const first = objectAt(0);
    const chain = [first];
    for (let n = 1; n < 200; n++)
      chain.push(objectAfter(chain[n - 1] as StoredObject, n * (DAY_MS / 50), { expiresAt: LATER + n }));
    for (const object of chain) await store.addObject(object, [], MUCH);
    const read = await store.readChain(idOf(chain, 199), AT);
    expect(read.map(plain)).toEqual(chain.map((object) => plain({ ...object, expiresAt: LATER + 199 })));
    expect(idsOf(await store.readChain(idOf(chain, 120), AT))).toEqual(idsOf(chain.slice(0, 121)));
    expect(idsOf(await store.readChain(first.id, AT))).toEqual([first.id]);
  });

  test("a chain that branches is read along the branch of the object alone", async () => {
    const store = await create();
    const chain = await addChain(store, 3);
    const branch = objectAfter(chain[0] as StoredObject, 500);
    const leaf = objectAfter(branch, 900);
    for (const object of [branch, leaf]) await store.addObject(object, [], MUCH);
    expect(idsOf(await store.readChain(leaf.id, AT))).toEqual(
      idsOf([chain[0] as StoredObject, branch, leaf]),
    );
    expect(idsOf(await store.readChain(idOf(chain, 2), AT))).toEqual(idsOf(chain));
  });

  test("the heads of a chain are listed from its root on, with those of its branches, and without contents", async () => {
    const store = await create(objectAt(7));
    const chain = await addChain(store, 3);
    const branch = objectAfter(chain[0] as StoredObject, 2 * DAY_MS);
    await store.addObject(branch, [], MUCH);
    const list = async (limit: number, now = AT) => idsOf(await store.listChain(idOf(chain, 0), now, limit));
    expect(await list(9)).toEqual([idOf(chain, 0), idOf(chain, 1), branch.id, idOf(chain, 2)]);
    expect(await list(2)).toEqual([idOf(chain, 0), idOf(chain, 1)]);
    expect(await list(9, LATER)).toEqual([]);
    expect(await store.listChain("gen_unknown", AT, 9)).toEqual([]);
    const { sealed: _sealed, ciphertext: _ciphertext, ...head } = branch;
    expect((await store.listChain(idOf(chain, 0), AT, 9))[2]).toEqual(head);
  });

  test("a chain is empty if its end is unknown, an object of it was deleted, or it has expired", async () => {
    const store = await create();
    const chain = await addChain(store, 3);
    expect(await store.readChain(idAt(AT + 999), AT)).toEqual([]);
    expect(await store.readChain(idOf(chain, 2), LATER)).toEqual([]);
    await store.deleteObject(idOf(chain, 1));
    expect(await store.readChain(idOf(chain, 2), AT)).toEqual([]);
    expect(await store.readChain(idOf(chain, 0), AT)).toHaveLength(1);
    expect(await store.findObject(idOf(chain, 2), AT)).not.toBeNull();
  });

  test("an object that is added later extends the whole chain, and an earlier time shortens nothing", async () => {
    const root = objectAt(0, { expiresAt: AT + 100 });
    const store = await create(root);
    await store.addObject(objectAfter(root, 1, { expiresAt: AT + 200 }), [], MUCH);
    await store.addObject(objectAfter(root, 2, { expiresAt: AT + 50 }), [], MUCH);
    expect((await store.findObject(root.id, AT + 150))?.expiresAt).toBe(AT + 200);
    await store.touchChain(root.id, AT + 199);
    await store.touchChain(root.id, AT + 300);
    await store.touchChain("gen_unknown", AT + 300);
    expect(await store.readChain(idAt(AT + 2), AT + 299)).toHaveLength(2);
    expect(await store.readChain(idAt(AT + 2), AT + 300)).toHaveLength(0);
  });
}

function testBytes(create: Create, createStore: CreateStore<ResponseStore>): void {
  test("the bytes of an account are those of its objects after each change", async () => {
    const [first, running] = [objectAt(0), runningAt(1)];
    const store = await create(first, running, objectAt(2, { accountId: "org_b", bytes: 5 }));
    const sum = () => store.sumBytes("org_a");
    expect([await sum(), await store.sumBytes("org_b"), await store.sumBytes("org_c")]).toEqual([20, 5, 0]);
    await store.changeObject(running, CHANGE, []);
    expect(await sum()).toBe(40);
    await store.replaceContent(first, { ciphertext: first.ciphertext, bytes: 3 }, []);
    expect(await sum()).toBe(33);
    await store.deleteObject(running.id);
    expect(await sum()).toBe(3);
    await store.deleteObject(first.id);
    expect([await sum(), await store.sumBytes("org_b")]).toEqual([0, 5]);
  });

  test("the items of a conversation are deleted in steps, and its responses stay", async () => {
    const of = { rootId: "conv_1", conversationId: "conv_1" };
    const items = [0, 1, 2].map((n) => objectAt(n, { ...of, kind: "items", sequence: n }));
    const [response, other] = [objectAt(3, { ...of, sequence: 3 }), objectAt(4, { kind: "items" })];
    const store = await create(...items, response, other);
    expect([await store.deleteItemsOf("conv_1", 2), await store.deleteItemsOf("conv_1", 2)]).toEqual([2, 1]);
    expect(idsOf(await store.listHeads(ALL, AT))).toEqual([other.id, response.id]);
    expect(await store.sumBytes("org_a")).toBe(20);
  });

  test("a conversation counts for its account until it is deleted, and is not added beyond the limit", async () => {
    const store = await create(objectAt(0));
    const conversation = conversationOf("conv_1", { bytes: 40 });
    expect(await store.addConversation(conversation, 49)).toBe("full");
    expect([await store.findConversation("conv_1", AT), await store.sumBytes("org_a")]).toEqual([null, 10]);
    for (const _again of [1, 2]) expect(await store.addConversation(conversation, 50)).toBe("added");
    expect(await store.sumBytes("org_a")).toBe(50);
    await store.changeConversation("conv_1", { ciphertext: conversation.ciphertext, bytes: 60 });
    expect(await store.sumBytes("org_a")).toBe(70);
    await store.deleteConversation("conv_1");
    expect(await store.sumBytes("org_a")).toBe(10);
  });

  test("expired conversations no longer count for their accounts", async () => {
    const store = await create(objectAt(0, { expiresAt: AT }));
    const of = (accountId: string) => ({ accountId, bytes: 40, expiresAt: AT });
    await store.addConversation(conversationOf("conv_1", of("org_a")), MUCH);
    await store.addConversation(conversationOf("conv_2", of("org_b")), MUCH);
    expect(await store.deleteExpired(AT, 9)).toBe(3);
    expect([await store.sumBytes("org_a"), await store.sumBytes("org_b")]).toEqual([0, 0]);
  });

  test("an object beyond the bytes of its account is not added, with nothing that belongs to it", async () => {
    const object = objectAt(0, { bytes: 60 });
    const store = await create(object);
    const next = objectAfter(object, 1, { bytes: 41, expiresAt: LATER + 1 });
    expect(await store.addObject(next, ["item_1"], 100)).toBe("full");
    expect(await store.findObject(next.id, AT)).toBeNull();
    expect(await store.findByItems(OWNER, ["item_1"], AT)).toEqual([]);
    expect((await store.findObject(object.id, AT))?.expiresAt).toBe(LATER);
    expect(await store.sumBytes("org_a")).toBe(60);
    expect(await store.addObject({ ...next, bytes: 40 }, ["item_1"], 100)).toBe("added");
    expect(await store.addObject(objectAt(2, { accountId: "org_b" }), [], 0)).toBe("full");
  });

  test("objects of one account that are added at the same time are all counted, up to the limit", async () => {
    const stores = [await createStore(), await createStore(), await createStore()];
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, n) => stores[n % 3]?.addObject(objectAt(n), ["item"], 100)),
    );
    expect(outcomes.filter((outcome) => outcome === "added")).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === "full")).toHaveLength(2);
    expect(await stores[0]?.sumBytes("org_a")).toBe(100);
    expect(await stores[0]?.listHeads(ALL, AT)).toHaveLength(10);
  });

  test("of two objects that are added at one place of a conversation at the same time, exactly one is", async () => {
    const [here, there] = [await createStore(), await createStore()];
    await here.addConversation(conversationOf("conv_1"), MUCH);
    const at = { rootId: "conv_1", conversationId: "conv_1" };
    let last = objectAt(0, at);
    await here.addObject(last, [], MUCH);
    for (let round = 1; round <= 10; round++) {
      const [one, other] = [objectAfter(last, round * 10), objectAfter(last, round * 10 + 1)];
      const outcomes = await Promise.all([here.addObject(one, [], MUCH), there.addObject(other, [], MUCH)]);
      expect([...outcomes].sort()).toEqual(["added", "taken"]);
      last = outcomes[0] === "added" ? one : other;
      expect((await there.findLast("conv_1", AT))?.id).toBe(last.id);
    }
    expect(await here.readChain(last.id, AT)).toHaveLength(11);
    expect(await here.sumBytes("org_a")).toBe(110);
  });

  test("objects of one chain that are added and deleted at the same time leave the right sums", async () => {
    const [here, there] = [await createStore(), await createStore()];
    const root = objectAt(0);
    await here.addObject(root, [], MUCH);
    for (let round = 0; round < 10; round++)
      await Promise.all([
        here.addObject(objectAfter(root, round * 10 + 1), ["item"], MUCH),
        there.addObject(objectAfter(root, round * 10 + 2), ["item"], MUCH),
        there.deleteObject(idAt(AT + round * 10 - 9)),
        here.deleteObject(idAt(AT + round * 10 - 8)),
        there.touchChain(root.id, LATER + round),
      ]);
    const left = await here.listHeads(ALL, AT);
    expect(await here.sumBytes("org_a")).toBe(left.length * 10);
    for (const { id } of left) await here.deleteObject(id);
    expect([await here.sumBytes("org_a"), await here.findNextExpiry()]).toEqual([0, null]);
  });
}

function testConversations(create: Create): void {
  const of = { rootId: "conv_1", conversationId: "conv_1" };

  test("a conversation is found as it was added, changed and deleted", async () => {
    const store = await create();
    const conversation = conversationOf("conv_1", { expiresAt: AT + 100, userId: null });
    await store.addConversation(conversation, MUCH);
    await store.addConversation({ ...conversation, keyId: "key_b" }, MUCH);
    expect(plain(await store.findConversation("conv_1", AT + 99))).toEqual(plain(conversation));
    expect(await store.findConversation("conv_1", AT + 100)).toBeNull();
    expect(await store.changeConversation("conv_1", { ciphertext: Uint8Array.of(9), bytes: 7 })).toBe(true);
    expect([...((await store.findConversation("conv_1", AT))?.ciphertext ?? [])]).toEqual([9]);
    expect([await store.deleteConversation("conv_1"), await store.deleteConversation("conv_1")]).toEqual([
      true,
      false,
    ]);
    expect(await store.changeConversation("conv_1", { ciphertext: Uint8Array.of(9), bytes: 7 })).toBe(false);
    expect(await store.findNextExpiry()).toBeNull();
  });

  test("the last object of a conversation is the one at its highest place", async () => {
    const store = await create();
    await store.addConversation(conversationOf("conv_1"), MUCH);
    expect(await store.findLast("conv_1", AT)).toBeNull();
    const first = objectAt(5, of);
    const second = objectAfter(first, 3);
    for (const object of [first, second]) await store.addObject(object, [], MUCH);
    const { sealed: _sealed, ciphertext: _ciphertext, ...head } = second;
    expect(await store.findLast("conv_1", AT)).toEqual(head);
    expect(await store.findLast("conv_1", LATER)).toBeNull();
  });

  test("a place in a conversation is taken once, and free again after its object was deleted", async () => {
    const first = objectAt(0, of);
    const store = await create(first);
    const [second, other] = [objectAfter(first, 1), objectAfter(first, 2)];
    expect(await store.addObject(second, [], MUCH)).toBe("added");
    expect(await store.addObject(other, ["item_1"], MUCH)).toBe("taken");
    expect(await store.addObject(second, [], MUCH)).toBe("added");
    expect([await store.sumBytes("org_a"), (await store.listHeads(ALL, AT)).length]).toEqual([20, 2]);
    await store.deleteObject(second.id);
    expect((await store.findLast("conv_1", AT))?.id).toBe(first.id);
    expect(await store.addObject(other, ["item_1"], MUCH)).toBe("added");
  });

  test("chains that are no conversation may have several objects at one place", async () => {
    const root = objectAt(0);
    const store = await create(root, objectAfter(root, 1), objectAfter(root, 2));
    expect(await store.listHeads(ALL, AT)).toHaveLength(3);
  });

  test("a conversation is read in its order without deleted objects and without branches", async () => {
    const store = await create();
    await store.addConversation(conversationOf("conv_1"), MUCH);
    const turns: StoredObject[] = [];
    for (const n of [0, 1, 2]) {
      const place = { rootId: "conv_1", conversationId: "conv_1", sequence: n };
      const previousId = turns.at(-1)?.id ?? null;
      turns.push(objectAt(n * DAY_MS, { ...place, previousId }));
    }
    const branch = objectAt(5, { rootId: "conv_1", sequence: 1, previousId: idOf(turns, 0) });
    for (const object of [...turns, branch]) await store.addObject(object, [], MUCH);
    expect(idsOf(await store.readConversation("conv_1", AT))).toEqual(idsOf(turns));
    await store.deleteObject(idOf(turns, 1));
    expect(idsOf(await store.readConversation("conv_1", AT))).toEqual([idOf(turns, 0), idOf(turns, 2)]);
    expect(await store.readConversation("conv_1", LATER)).toEqual([]);
  });

  test("objects of a deleted conversation stay until they expire", async () => {
    const store = await create();
    await store.addConversation(conversationOf("conv_1"), MUCH);
    const first = objectAt(0, of);
    await store.addObject(first, [], MUCH);
    await store.deleteConversation("conv_1");
    expect(await store.findConversation("conv_1", AT)).toBeNull();
    expect((await store.findObject(first.id, AT))?.conversationId).toBe("conv_1");
    expect(await store.readChain(first.id, AT)).toHaveLength(1);
    expect(await store.deleteExpired(LATER, 9)).toBe(1);
  });
}

function testItems(create: Create): void {
  test("objects are found by the ids of their items, the newest of several, each once", async () => {
    const [first, second, third] = [objectAt(0), objectAt(DAY_MS), objectAt(1)];
    const store = await create();
    await store.addObject(first, ["item_1", "item_2"], MUCH);
    await store.addObject(second, ["item_2", "item_3", "item_3"], MUCH);
    await store.addObject(third, ["item_2", 'item "4" \\ {é}'], MUCH);
    const find = async (...items: readonly string[]) =>
      idsOf(await store.findByItems(OWNER, items, AT)).sort();
    expect(await find("item_1")).toEqual([first.id]);
    expect(await find("item_2", "item_3")).toEqual([second.id]);
    expect(await find("item_1", "item_2", 'item "4" \\ {é}')).toEqual([first.id, third.id, second.id]);
    expect([await find(), await find("item_5")]).toEqual([[], []]);
    const { sealed: _sealed, ciphertext: _ciphertext, ...head } = first;
    expect((await store.findByItems(OWNER, ["item_1"], AT))[0]).toEqual(head);
  });

  test("items are found by their owner alone: the person, or the key of no person", async () => {
    const store = await create();
    await store.addObject(objectAt(0), ["item_1"], MUCH);
    await store.addObject(objectAt(1, { userId: null }), ["item_1"], MUCH);
    await store.addObject(objectAt(2, { accountId: "org_b", userId: null }), ["item_1"], MUCH);
    const find = async (owner: Partial<typeof OWNER> | { userId: null; keyId?: string }) =>
      idsOf(await store.findByItems({ ...OWNER, ...owner }, ["item_1"], AT));
    expect(await find({ keyId: "key_b" })).toEqual([idAt(AT)]);
    expect(await find({ userId: "user_b" })).toEqual([]);
    expect(await find({ userId: null })).toEqual([idAt(AT + 1)]);
    expect(await find({ userId: null, keyId: "key_b" })).toEqual([]);
    expect(await find({ accountId: "org_b", userId: null as never })).toEqual([idAt(AT + 2)]);
  });

  test("an item of a conversation is found there, although a newer object elsewhere has it too", async () => {
    const store = await create();
    const of = (id: string) => ({ rootId: id, conversationId: id });
    await store.addObject(objectAt(0, of("conv_1")), ["item_1"], MUCH);
    await store.addObject(objectAt(1, of("conv_2")), ["item_1"], MUCH);
    const find = async (conversationId?: string) =>
      idsOf(await store.findByItems(OWNER, ["item_1"], AT, conversationId));
    expect(await find("conv_1")).toEqual([idAt(AT)]);
    expect(await find("conv_2")).toEqual([idAt(AT + 1)]);
    expect(await find("conv_3")).toEqual([]);
    expect(await find()).toEqual([idAt(AT + 1)]);
  });

  test("items that were removed, and those of deleted or expired objects, are not found", async () => {
    const store = await create();
    const [first, second] = [objectAt(0), objectAt(1)];
    await store.addObject(first, ["item_1", "item_2", "item_3"], MUCH);
    await store.addObject(second, ["item_2"], MUCH);
    await store.replaceContent(first, { ciphertext: first.ciphertext, bytes: 5 }, ["item_1"]);
    expect(await store.findByItems(OWNER, ["item_1"], AT)).toEqual([]);
    await store.deleteObject(second.id);
    expect(idsOf(await store.findByItems(OWNER, ["item_2"], AT))).toEqual([first.id]);
    expect(await store.findByItems(OWNER, ["item_3"], LATER)).toEqual([]);
  });
}

function testHeads(create: Create): void {
  test("heads are listed from the newest to the oldest, page by page, whatever their kinds are", async () => {
    const store = await create();
    const objects = Array.from({ length: 25 }, (_, n) => {
      const id = idAt(AT + n * DAY_MS * 0.3, n % 3 === 0 ? "items" : "gen");
      return objectAt(n * DAY_MS * 0.3, { id, kind: n % 3 === 0 ? "items" : "response" });
    });
    for (const object of [...objects].sort(() => 0.5 - Math.random()))
      await store.addObject(object, [], MUCH);
    const listed: string[] = [];
    for (let before: string | null = null; ; before = listed.at(-1) ?? null) {
      const page = await store.listHeads({ ...ALL, before, limit: 7 }, AT);
      listed.push(...idsOf(page));
      if (page.length < 7) break;
    }
    expect(listed).toEqual(idsOf(objects).reverse());
  });

  test("heads have no contents, and are selected by each of their properties", async () => {
    const conversation = { rootId: "conv_1", conversationId: "conv_1" };
    const objects = [
      objectAt(0),
      objectAt(1, { userId: "user_b", ...conversation }),
      objectAt(2, { keyId: "key_b", status: "failed" }),
      runningAt(3),
      objectAt(4, { accountId: "org_b" }),
      objectAt(5, { expiresAt: AT + 10 }),
    ];
    const store = await create(...objects);
    const list = async (query: Partial<ObjectQuery>) =>
      idsOf(await store.listHeads({ ...ALL, ...query }, AT + 10)).map((id) => idsOf(objects).indexOf(id));
    expect(await list({})).toEqual([3, 2, 1, 0]);
    expect(await list({ accountId: "org_b" })).toEqual([4]);
    expect(await list({ userId: "user_b" })).toEqual([1]);
    expect(await list({ keyId: "key_b" })).toEqual([2]);
    expect(await list({ conversationId: "conv_1" })).toEqual([1]);
    expect(await list({ isBackground: true })).toEqual([3]);
    expect(await list({ isBackground: false, status: "failed" })).toEqual([2]);
    expect(await list({ before: idAt(AT + 2), limit: 1 })).toEqual([1]);
    const { sealed: _sealed, ciphertext: _ciphertext, ...head } = objects[0] as StoredObject;
    expect((await store.listHeads({ ...ALL, before: idAt(AT + 1) }, AT))[0]).toEqual(head);
  });
}

function testRunning(create: Create): void {
  test("a running response is changed and gets items until it has ended", async () => {
    const running = runningAt(0, { status: "queued" });
    const store = await create(running);
    const progress = { ...CHANGE, status: "in_progress", gatewayId: "gateway_a", endedAt: null } as const;
    expect(await store.changeObject(running, progress, ["item_1"])).toBe(true);
    expect(await store.changeObject(running, CHANGE, ["item_1", "item_2"])).toBe(true);
    expect(plain(await store.findObject(running.id, AT))).toEqual(plain({ ...running, ...CHANGE }));
    expect(idsOf(await store.findByItems(OWNER, ["item_2"], AT))).toEqual([running.id]);
    expect(await store.changeObject(running, { ...CHANGE, status: "failed" }, ["item_3"])).toBe(false);
    expect((await store.findObject(running.id, AT))?.status).toBe("completed");
    expect(await store.findByItems(OWNER, ["item_3"], AT)).toEqual([]);
    expect(await store.changeObject(runningAt(9), CHANGE, [])).toBe(false);
  });

  test("only a running response is cancelled, and its gateway alone learns of it", async () => {
    const objects = [runningAt(0), runningAt(1), runningAt(2, { gatewayId: "gateway_b" }), objectAt(3)];
    const store = await create(...objects);
    const [first, , other, ended] = idsOf(objects) as [string, string, string, string];
    const findCancelled = async () =>
      idsOf((await store.listRunning("gateway_a")).filter((response) => response.isCancelRequested));
    expect(await findCancelled()).toEqual([]);
    expect([await store.requestCancel(first), await store.requestCancel(other)]).toEqual([true, true]);
    expect([await store.requestCancel(ended), await store.requestCancel(idAt(AT + 9))]).toEqual([
      false,
      false,
    ]);
    expect(await findCancelled()).toEqual([first]);
    expect((await store.findObject(first, AT))?.isCancelRequested).toBe(true);
    const run = { id: first, gatewayId: "gateway_a" };
    await store.changeObject(run, { ...CHANGE, status: "cancelled" }, []);
    expect(await findCancelled()).toEqual([]);
  });

  test("the responses that run at a gateway are listed, and the gateways at which some run", async () => {
    const store = await create(
      runningAt(0),
      runningAt(DAY_MS, { status: "queued" }),
      runningAt(2, { gatewayId: "gateway_b" }),
      runningAt(3, { gatewayId: null }),
      objectAt(4, { gatewayId: "gateway_c" }),
    );
    expect(idsOf(await store.listRunning("gateway_a")).sort()).toEqual([idAt(AT), idAt(AT + DAY_MS)]);
    expect([...(await store.listRunningGateways())].sort()).toEqual(["gateway_a", "gateway_b"]);
  });

  test("the responses of a gateway that is gone are released, listed page by page, and ended by others", async () => {
    const ended = objectAt(4, { gatewayId: "gateway_a" });
    const objects = [runningAt(0), runningAt(DAY_MS), runningAt(2), runningAt(3, { gatewayId: "gateway_b" })];
    const store = await create(...objects, ended);
    await store.releaseRunning("gateway_a");
    const released = await store.listReleased(null, 2);
    expect(idsOf(released)).toEqual([idAt(AT), idAt(AT + 2)]);
    expect(plain(released[0])).toEqual(plain({ ...(objects[0] as StoredObject), gatewayId: null }));
    expect(idsOf(await store.listReleased(idAt(AT + 2), 9))).toEqual([idAt(AT + DAY_MS)]);
    expect(await store.listRunningGateways()).toEqual(["gateway_b"]);
    // Its former gateway may still exist.
    expect(await store.changeObject(objects[0] as StoredObject, CHANGE, [])).toBe(false);
    expect(await store.addEvents(objects[0] as StoredObject, [groupOf(0, 1)])).toBe(false);
    expect(await store.addEvents(released[0] as StoredObject, [groupOf(2, 2)])).toBe(true);
    expect(await store.changeObject(released[0] as StoredObject, CHANGE, [])).toBe(true);
    expect(await store.readEvents(idAt(AT), 0, 9)).toHaveLength(1);
    expect(idsOf(await store.listReleased(null, 9))).toEqual([idAt(AT + 2), idAt(AT + DAY_MS)]);
  });
}

/** Returns a group of events. */
const groupOf = (first: number, last: number) => ({
  ...{ first, last },
  ciphertext: Uint8Array.of(first, 0, last),
});

function testEvents(create: Create): void {
  test("events are read in their order from the group with an event on, page by page", async () => {
    const [response, other] = [runningAt(0), runningAt(1)];
    const store = await create(response, other);
    const groups = Array.from({ length: 20 }, (_, n) => groupOf(n * 3, n * 3 + 2));
    await store.addEvents(response, [...groups.slice(10), ...groups.slice(0, 10)]);
    await store.addEvents(other, [groupOf(0, 9)]);
    const read = async (from: number, limit: number) => {
      const found = await store.readEvents(response.id, from, limit);
      return found.map(({ first, last }) => [first, last]);
    };
    expect((await store.readEvents(response.id, 0, 100)).map(plain)).toEqual(groups.map(plain));
    expect(await read(0, 2)).toEqual([
      [0, 2],
      [3, 5],
    ]);
    expect(await read(7, 2)).toEqual([
      [6, 8],
      [9, 11],
    ]);
    expect(await read(59, 9)).toEqual([[57, 59]]);
    expect([await read(60, 9), await store.readEvents(idAt(AT + 9), 0, 9)]).toEqual([[], []]);
  });

  test("events that are added again are kept as they were, and those of unknown responses are not stored", async () => {
    const response = runningAt(0);
    const store = await create(response);
    expect(await store.addEvents(response, [groupOf(0, 1)])).toBe(true);
    const again = [{ ...groupOf(0, 1), ciphertext: Uint8Array.of(9) }, groupOf(2, 2)];
    expect(await store.addEvents(response, again)).toBe(true);
    expect(await store.addEvents(response, [])).toBe(true);
    expect(await store.addEvents(runningAt(9), [groupOf(0, 1)])).toBe(false);
    const found = await store.readEvents(response.id, 0, 9);
    expect(found.map(plain)).toEqual([groupOf(0, 1), groupOf(2, 2)].map(plain));
    expect(await store.readEvents(idAt(AT + 9), 0, 9)).toEqual([]);
  });

  test("events end with their response", async () => {
    const response = runningAt(0);
    const store = await create(response);
    await store.addEvents(response, [groupOf(0, 1)]);
    await store.deleteObject(response.id);
    expect(await store.readEvents(response.id, 0, 9)).toEqual([]);
    await store.addObject(response, [], MUCH);
    expect(await store.readEvents(response.id, 0, 9)).toEqual([]);
  });
}

function testExpiry(create: Create, addChain: AddChain): void {
  test("expired chains are deleted in steps with all that they have, and others are not", async () => {
    const store = await create(objectAt(1, { expiresAt: AT + 101 }));
    const first = runningAt(0, { expiresAt: AT + 100 });
    await store.addObject(first, ["item_1"], MUCH);
    const second = objectAfter(first, DAY_MS, { expiresAt: AT + 100 });
    await store.addObject(second, ["item_2"], MUCH);
    await store.addEvents(first, [groupOf(0, 0)]);
    expect(await store.deleteExpired(AT + 99, 9)).toBe(0);
    expect(await store.deleteExpired(AT + 100, 1)).toBe(1);
    expect(await store.sumBytes("org_a")).toBe(20);
    expect(await store.deleteExpired(AT + 100, 9)).toBe(1);
    expect(await store.deleteExpired(AT + 100, 9)).toBe(0);
    expect(idsOf(await store.listHeads(ALL, AT))).toEqual([idAt(AT + 1)]);
    expect([await store.findNextExpiry(), await store.sumBytes("org_a")]).toEqual([AT + 101, 10]);
    expect(await store.findByItems(OWNER, ["item_1", "item_2"], AT)).toEqual([]);
    expect(await store.readEvents(first.id, 0, 9)).toEqual([]);
  });

  test("a conversation expires with its objects", async () => {
    const store = await create();
    const expiresAt = AT + 100;
    await store.addConversation(conversationOf("conv_1", { expiresAt }), MUCH);
    await store.addConversation(conversationOf("conv_2", { expiresAt: AT + 101 }), MUCH);
    await addChain(store, 3, objectAt(0, { rootId: "conv_1", conversationId: "conv_1", expiresAt }));
    await store.touchChain("conv_1", expiresAt);
    expect(await store.findNextExpiry()).toBe(AT + 101);
    expect(await store.deleteExpired(LATER, 2)).toBe(2);
    expect(await store.deleteExpired(LATER, 9)).toBe(3);
    expect([await store.findNextExpiry(), await store.sumBytes("org_a")]).toEqual([null, 0]);
  });

  test("chains that would expire after a time expire then", async () => {
    const store = await create(objectAt(0, { expiresAt: AT + 100 }), objectAt(1), objectAt(2), objectAt(3));
    expect(await store.limitExpiry(AT + 200, 2)).toBe(2);
    expect(await store.limitExpiry(AT + 200, 2)).toBe(1);
    expect(await store.limitExpiry(AT + 200, 2)).toBe(0);
    expect(await store.findNextExpiry()).toBe(AT + 100);
    expect((await store.listHeads(ALL, AT + 199)).map(({ expiresAt }) => expiresAt)).toEqual(
      Array(3).fill(AT + 200),
    );
  });

  test("space is released after a deletion, and what is left stays", async () => {
    const store = await create(objectAt(0), objectAt(3 * DAY_MS));
    await store.deleteObject(idAt(AT));
    const firstKept = dayOf(AT) + 10;
    for (let step = 0; step < 100 && (await store.releaseSpace(firstKept)).hasMore; step++);
    expect(await store.releaseSpace(firstKept)).toEqual({ hasMore: false });
    expect(await store.findObject(idAt(AT + 3 * DAY_MS), AT)).not.toBeNull();
    expect(await store.addObject(objectAt(0), ["item_1"], MUCH)).toBe("added");
    expect(await store.findObject(idAt(AT), AT)).not.toBeNull();
  });
}

function testAccounts(create: Create): void {
  test("accounts with objects or conversations are listed by their ids", async () => {
    const ids = ["org_a", "org_b", "org_c"];
    const store = await create(...ids.map((accountId, n) => objectAt(n, { accountId })), objectAt(9));
    await store.addConversation(conversationOf("conv_1", { accountId: "org_d" }), MUCH);
    expect(await store.listAccounts(null, 3)).toEqual(ids);
    expect(await store.listAccounts("org_c", 3)).toEqual(["org_d"]);
  });

  test("everything of an account is deleted in steps, and nothing of others", async () => {
    const store = await create(objectAt(9, { accountId: "org_b" }));
    await store.addConversation(conversationOf("conv_1"), MUCH);
    await store.addConversation(conversationOf("conv_2", { accountId: "org_b" }), MUCH);
    for (const ms of [0, DAY_MS, 1]) await store.addObject(objectAt(ms), [`item_${ms}`], MUCH);
    await store.addObject(objectAt(2, { rootId: "conv_1", conversationId: "conv_1" }), [], MUCH);
    await store.addObject(objectAt(3, { rootId: "conv_2", conversationId: "conv_2" }), [], MUCH);
    expect(await store.deleteOfAccount("org_a", 3)).toBe(3);
    expect(await store.deleteOfAccount("org_a", 5)).toBe(3);
    expect(await store.deleteOfAccount("org_a", 5)).toBe(0);
    expect([await store.sumBytes("org_a"), await store.listAccounts(null, 9)]).toEqual([0, ["org_b"]]);
    expect(await store.findByItems(OWNER, ["item_0"], AT)).toEqual([]);
    expect(await store.findConversation("conv_1", AT)).toBeNull();
    expect(await store.findConversation("conv_2", AT)).not.toBeNull();
    expect(idsOf(await store.listHeads({ ...ALL, accountId: "org_b" }, AT))).toEqual([idAt(AT + 9)]);
  });
}

function testSealing(create: Create): void {
  const next = { masterKeyId: "master_2", ciphertext: "other" };

  test("rows of all kinds that other master keys have sealed are listed by their ids", async () => {
    const of = (masterKeyId: string) => ({ sealed: { masterKeyId, ciphertext: "sealed" } });
    const store = await create(
      objectAt(DAY_MS, of("master_1")),
      objectAt(1, of("master_2")),
      objectAt(2, of("master_3")),
    );
    await store.addConversation(conversationOf("conv_1", of("master_1")), MUCH);
    await store.addConversation(conversationOf("zconv_1", of("master_0")), MUCH);
    expect([...(await store.listMasterKeysInUse())].sort()).toEqual([
      "master_0",
      "master_1",
      "master_2",
      "master_3",
    ]);
    const rows = await store.listSealedByOthers("master_2", null, 9);
    expect(rows.map(({ id, sealed }) => [id, sealed.masterKeyId])).toEqual([
      ["conv_1", "master_1"],
      [idAt(AT + 2), "master_3"],
      [idAt(AT + DAY_MS), "master_1"],
      ["zconv_1", "master_0"],
    ]);
    expect(rows[1]).toEqual({ id: idAt(AT + 2), accountId: "org_a", ...of("master_3") });
    expect(idsOf(await store.listSealedByOthers("master_2", idAt(AT + 2), 1))).toEqual([idAt(AT + DAY_MS)]);
    expect(await store.listSealedByOthers("master_2", "zconv_1", 9)).toEqual([]);
  });

  test("a data key is resealed only if it is still the one that was read", async () => {
    const object = objectAt(0);
    const store = await create(object);
    const conversation = conversationOf("conv_1");
    await store.addConversation(conversation, MUCH);
    for (const { id, sealed } of [object, conversation]) {
      expect(await store.reseal(id, next, next)).toBe(false);
      expect(await store.reseal(id, sealed, next)).toBe(true);
    }
    expect((await store.findObject(object.id, AT))?.sealed).toEqual(next);
    expect((await store.findConversation("conv_1", AT))?.sealed).toEqual(next);
    expect(await store.listMasterKeysInUse()).toEqual(["master_2"]);
    expect(await store.listSealedByOthers("master_2", null, 9)).toEqual([]);
  });
}

const idOf = (chain: readonly StoredObject[], at: number) => (chain[at] as StoredObject).id;
