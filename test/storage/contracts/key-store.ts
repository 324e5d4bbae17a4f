import { describe, expect, test } from "bun:test";
import type { KeyStore } from "../../../src/core/accounts/stores/key-store.ts";
import type { CreateStore } from "./create-store.ts";
import { keyOf } from "./samples.ts";

/** The contract of a `KeyStore`. */
export function testKeyStore(createStore: CreateStore<KeyStore>): void {
  describe("a key store", () => {
    test("returns a key with every field as it was inserted, by id and by hash", async () => {
      const store = await createStore();
      const key = keyOf("key_1", {
        models: ["author/*"],
        rateLimit: { requestsPerMinute: 1, tokensPerMinute: null, concurrent: 2, setBy: "operator" },
        spendLimit: 5,
        expiresAt: 9_000,
      });
      await store.insertKey(key);
      expect(await store.findKey("key_1")).toEqual(key);
      expect(await store.findKeyByHash(key.hash)).toEqual(key);
      expect([await store.findKey("key_2"), await store.findKeyByHash("none")]).toEqual([null, null]);
    });

    test("rejects a second key with the same hash", async () => {
      const store = await createStore();
      await store.insertKey(keyOf("key_1"));
      const twin = store.insertKey(keyOf("key_2", { hash: keyOf("key_1").hash }));
      expect(
        await twin.then(
          () => "accepted",
          () => "rejected",
        ),
      ).toBe("rejected");
      expect(await store.findKey("key_2")).toBeNull();
    });

    test("finds nothing by an id or a hash with control characters", async () => {
      const store = await createStore();
      expect([await store.findKey("\0"), await store.findKeyByHash("a\0b")]).toEqual([null, null]);
    });

    test("lists keys newest first, of all accounts or of one, page by page", async () => {
      const store = await createStore();
      for (const id of ["key_1", "key_2", "key_4"]) await store.insertKey(keyOf(id));
      await store.insertKey(keyOf("key_3", { accountId: "org_a" }));
      const ids = async (query?: Parameters<KeyStore["listKeys"]>[0]) =>
        (await store.listKeys(query)).map(({ id }) => id);
      expect(await ids()).toEqual(["key_4", "key_3", "key_2", "key_1"]);
      await store.insertKey(keyOf("key_5", { accountId: "org_a", userId: "user_b" }));
      expect(await ids({ accountId: "org_a", userId: "user_b" })).toEqual(["key_5"]);
      expect(await ids({ accountId: "user_a", limit: 2 })).toEqual(["key_4", "key_2"]);
      expect(await ids({ accountId: "user_a", limit: 2, afterId: "key_2" })).toEqual(["key_1"]);
    });

    test("lists keys with a name, of which the case does not matter", async () => {
      const store = await createStore();
      await store.insertKey(keyOf("key_1", { name: "CI" }));
      await store.insertKey(keyOf("key_2", { name: "ci", accountId: "org_a" }));
      await store.insertKey(keyOf("key_3", { name: "ci 2" }));
      const ids = async (query: Parameters<KeyStore["listKeys"]>[0]) =>
        (await store.listKeys(query)).map(({ id }) => id);
      expect(await ids({ name: "ci" })).toEqual(["key_2", "key_1"]);
      expect(await ids({ name: "ci", accountId: "org_a" })).toEqual(["key_2"]);
      expect(await ids({ name: "c%" })).toEqual([]);
    });

    test("lists keys whose name or hint contains a text, in which % and _ mean themselves", async () => {
      const store = await createStore();
      await store.insertKey(keyOf("key_1", { name: "Nightly 100% run" }));
      await store.insertKey(keyOf("key_2", { name: "nightly_run", hint: "gw_a…100" }));
      const ids = async (search: string) => (await store.listKeys({ search })).map(({ id }) => id);
      expect(await ids("NIGHTLY")).toEqual(["key_2", "key_1"]);
      expect(await ids("0%")).toEqual(["key_1"]);
      expect(await ids("y_r")).toEqual(["key_2"]);
      expect(await ids("…100")).toEqual(["key_2"]);
      expect(await ids("weekly")).toEqual([]);
    });

    test("lists keys that were never used, or neither created nor used since a time, without revoked ones", async () => {
      const store = await createStore();
      await store.insertKey(keyOf("key_1", { createdAt: 10 }));
      await store.insertKey(keyOf("key_2", { createdAt: 10 }));
      await store.insertKey(keyOf("key_3", { createdAt: 10 }));
      await store.insertKey(keyOf("key_4", { createdAt: 50 }));
      await store.recordKeyUses([
        { id: "key_2", usedAt: 20 },
        { id: "key_3", usedAt: 60 },
      ]);
      const ids = async (before: number | null) =>
        (await store.listKeys({ unused: { before } })).map(({ id }) => id);
      expect(await ids(null)).toEqual(["key_4", "key_1"]);
      expect(await ids(40)).toEqual(["key_2", "key_1"]);
      await store.revokeKey("key_1", 70);
      expect(await ids(null)).toEqual(["key_4"]);
      expect(await ids(40)).toEqual(["key_2"]);
    });

    test("returns the names of keys by their ids, and leaves out ids without a key", async () => {
      const store = await createStore();
      for (const id of ["key_1", "key_2"]) await store.insertKey(keyOf(id));
      const names = await store.findKeyNames(["key_2", "key_3", 'a"b']);
      expect([...names]).toEqual([["key_2", "name of key_2"]]);
      expect(await store.findKeyNames([])).toEqual(new Map());
    });

    test("returns limits up to the largest exact integer, and times of this century, without a change", async () => {
      const store = await createStore();
      const key = keyOf("key_1", {
        spendLimit: Number.MAX_SAFE_INTEGER,
        promptLog: 2_592_000,
        createdAt: 1_795_000_000_123,
        expiresAt: 4_102_444_800_000,
      });
      await store.insertKey(key);
      expect(await store.findKey("key_1")).toEqual(key);
    });

    test("changes the editable fields of a key and keeps the others", async () => {
      const store = await createStore();
      await store.insertKey(keyOf("key_1"));
      const fields = {
        name: "new",
        spendLimit: 7,
        spendLimitPeriod: "week",
        models: ["a/b"],
        expiresAt: 8_000,
      } as const;
      const changed = await store.changeKey("key_1", (key) => ({ ...key, ...fields, accountId: "other" }));
      expect(changed).toEqual(keyOf("key_1", fields));
      expect(await store.findKey("key_1")).toEqual(keyOf("key_1", fields));
      expect(await store.changeKey("key_2", (key) => key)).toBeNull();
    });

    test("loses none of the changes that two connections make to one key at the same time", async () => {
      const [here, there] = [await createStore(), await createStore()];
      await here.insertKey(keyOf("key_1", { spendLimit: 0, expiresAt: 0 }));
      await Promise.all(
        Array.from({ length: 10 }, () => [
          here.changeKey("key_1", (key) => ({ ...key, spendLimit: (key.spendLimit ?? 0) + 1 })),
          there.changeKey("key_1", (key) => ({ ...key, expiresAt: (key.expiresAt ?? 0) + 1 })),
        ]).flat(),
      );
      expect(await here.findKey("key_1")).toMatchObject({ spendLimit: 10, expiresAt: 10 });
      expect(await here.keyRevision()).toBe(await there.keyRevision());
    });

    test("keeps the latest use of each key, and no use of a key that does not exist", async () => {
      const [here, there] = [await createStore(), await createStore()];
      for (const id of ["key_1", "key_2", "key_3"]) await here.insertKey(keyOf(id));
      await here.recordKeyUses([
        { id: "key_1", usedAt: 7_200_000 },
        { id: "key_2", usedAt: 7_200_000 },
        { id: "key_9", usedAt: 7_200_000 },
      ]);
      await there.recordKeyUses([
        { id: "key_2", usedAt: 10_800_000 },
        { id: "key_1", usedAt: 3_600_000 },
      ]);
      const keys = await here.listKeys();
      expect(keys.map(({ id, lastUsedAt }) => [id, lastUsedAt])).toEqual([
        ["key_3", null],
        ["key_2", 10_800_000],
        ["key_1", 7_200_000],
      ]);
    });

    test("a change of a key keeps its last use, and a use is no change", async () => {
      const store = await createStore();
      await store.insertKey(keyOf("key_1"));
      const revision = await store.keyRevision();
      await store.recordKeyUses([{ id: "key_1", usedAt: 3_600_000 }]);
      expect(await store.keyRevision()).toBe(revision);
      const changed = await store.changeKey("key_1", (key) => ({ ...key, name: "other", lastUsedAt: 1 }));
      expect(changed).toMatchObject({ name: "other", lastUsedAt: 3_600_000 });
    });

    test("lists the keys that expire within a time and are not revoked, those that expire first", async () => {
      const store = await createStore();
      const expiries = { key_1: 3_000, key_2: 1_000, key_3: 2_000, key_4: 2_500, key_5: null };
      for (const [id, expiresAt] of Object.entries(expiries)) await store.insertKey(keyOf(id, { expiresAt }));
      await store.revokeKey("key_4", 500);
      const list = async (after: number, until: number, limit = 10) =>
        (await store.listExpiringKeys(after, until, limit)).map(({ id }) => id);
      expect(await list(1_000, 3_000)).toEqual(["key_3", "key_1"]);
      expect(await list(0, 10_000, 2)).toEqual(["key_2", "key_3"]);
    });

    test("keeps the first time at which a key was revoked", async () => {
      const store = await createStore();
      await store.insertKey(keyOf("key_1"));
      expect((await store.revokeKey("key_1", 5_000))?.revokedAt).toBe(5_000);
      expect((await store.revokeKey("key_1", 6_000))?.revokedAt).toBe(5_000);
      expect(await store.revokeKey("key_2", 5_000)).toBeNull();
    });

    test("changes its revision with every insertion, change and revocation, also for other connections", async () => {
      const [here, there] = [await createStore(), await createStore()];
      const revisions = [await there.keyRevision()];
      await here.insertKey(keyOf("key_1"));
      revisions.push(await there.keyRevision());
      await here.changeKey("key_1", (key) => ({ ...key, name: "new" }));
      revisions.push(await there.keyRevision());
      await here.revokeKey("key_1", 5_000);
      revisions.push(await there.keyRevision());
      expect(new Set(revisions).size).toBe(4);
    });
  });
}
