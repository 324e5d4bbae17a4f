import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../src/base/time/time.ts";
import type { KeyQuery, KeyStore } from "../../../src/core/accounts/stores/key-store.ts";
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

    test("gives a key a new secret, and is found by both until the next rotation", async () => {
      const store = await createStore();
      const key = keyOf("key_1");
      await store.insertKey(key);
      const rotated = await store.rotateKey("key_1", {
        hash: "second",
        hint: "gw_b…y",
        at: 5_000,
        previousUntil: 9_000,
      });
      expect(rotated).toEqual({
        ...key,
        ...{ hash: "second", hint: "gw_b…y", rotatedAt: 5_000 },
        ...{ previousHash: key.hash, previousHint: key.hint, previousUntil: 9_000, previousUsedAt: null },
      });
      expect([await store.findKeyByHash(key.hash), await store.findKeyByHash("second")]).toEqual([
        rotated,
        rotated,
      ]);
      await store.recordKeyUses([{ id: "key_1", usedAt: 3_600_000, isPrevious: true }]);
      expect(await store.findKey("key_1")).toMatchObject({
        lastUsedAt: 3_600_000,
        previousUsedAt: 3_600_000,
      });
      await store.rotateKey("key_1", { hash: "third", hint: "gw_c…x", at: 6_000, previousUntil: null });
      expect([await store.findKeyByHash(key.hash), await store.findKeyByHash("second")]).toEqual([
        null,
        null,
      ]);
      expect(await store.findKeyByHash("third")).toMatchObject({ previousHash: null, previousUsedAt: null });
    });

    test("gives a revoked key no secret", async () => {
      const store = await createStore();
      await store.insertKey(keyOf("key_1"));
      await store.revokeKey("key_1", 2_000);
      const secret = { hash: "second", hint: "", at: 5_000, previousUntil: null };
      expect([await store.rotateKey("key_1", secret), await store.rotateKey("key_2", secret)]).toEqual([
        null,
        null,
      ]);
      expect(await store.findKeyByHash("second")).toBeNull();
    });

    test("inserts a key only within a number of valid inference keys of the user in the account", async () => {
      const store = await createStore();
      const of = (id: string, fields = {}) =>
        keyOf(id, { accountId: "org_a", userId: "user_a", createdAt: 5_000, ...fields });
      await store.insertKey(of("key_expired", { expiresAt: 5_000 }));
      await store.insertKey(of("key_revoked", { revokedAt: 1 }));
      await store.insertKey(of("key_management", { kind: "management" }));
      await store.insertKey(of("key_other", { userId: "user_b" }));
      await store.insertKey(of("key_elsewhere", { accountId: "org_b" }));
      const tries = ["key_1", "key_2", "key_3"].map((id) => store.insertKeyWithin(of(id), 2));
      expect((await Promise.all(tries)).filter((isInserted) => isInserted)).toHaveLength(2);
      const owner = { accountId: "org_a", userId: "user_a" };
      expect([await store.countValidKeys(owner, 5_000), await store.countValidKeys(owner, 4_999)]).toEqual([
        2, 3,
      ]);
    });

    test("lists keys by team, by who sees them, by the age of the secret, and in the orders of both uses", async () => {
      const store = await createStore();
      await store.insertKey(keyOf("key_1", { userId: "user_a", createdAt: 30 }));
      await store.insertKey(
        keyOf("key_2", { userId: "user_b", teamId: "team_a", createdAt: 20, lastUsedAt: 10 }),
      );
      await store.insertKey(
        keyOf("key_3", { userId: "user_b", createdAt: 10, rotatedAt: 50, lastUsedAt: 5 }),
      );
      await store.insertKey(keyOf("key_4", { userId: "user_b", createdAt: 5, revokedAt: 6, lastUsedAt: 20 }));
      const idsOf = async (query: KeyQuery) => (await store.listKeys(query)).map(({ id }) => id);
      expect(await idsOf({ teamId: "team_a" })).toEqual(["key_2"]);
      expect(await idsOf({ seenBy: { userId: "user_a", teamIds: ["team_a", "team_b"] } })).toEqual([
        "key_2",
        "key_1",
      ]);
      expect(await idsOf({ seenBy: { userId: "user_a", teamIds: [] } })).toEqual(["key_1"]);
      expect(await idsOf({ secretBefore: 30 })).toEqual(["key_2"]);
      expect(await idsOf({ order: "oldest_secret" })).toEqual(["key_4", "key_2", "key_1", "key_3"]);
      expect(await idsOf({ order: "least_used" })).toEqual(["key_1", "key_3", "key_2", "key_4"]);
      expect(await idsOf({ order: "oldest_secret", afterId: "key_2" })).toEqual(["key_1", "key_3"]);
      expect(await idsOf({ order: "least_used", afterId: "key_3", limit: 1 })).toEqual(["key_2"]);
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

    test("returns the names of keys by their ids, of all accounts or of one, and leaves out ids without a key", async () => {
      const store = await createStore();
      for (const id of ["key_1", "key_2"]) await store.insertKey(keyOf(id));
      const names = await store.findKeyNames(["key_2", "key_3", 'a"b']);
      expect([...names]).toEqual([["key_2", "name of key_2"]]);
      await store.insertKey(keyOf("key_4", { accountId: "org_a" }));
      expect([...(await store.findKeyNames(["key_2", "key_4"], "org_a"))]).toEqual([
        ["key_4", "name of key_4"],
      ]);
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

    test("claims former secrets that are used in the second half of their overlap, each once after a rotation", async () => {
      const store = await createStore();
      const hours = (count: number) => count * HOUR_MS;
      const rotate = (id: string, at: number, previousUntil: number | null) =>
        store.rotateKey(id, { hash: `next hash of ${id} at ${at}`, hint: "gw_…", at, previousUntil });
      for (const id of ["key_1", "key_2", "key_3", "key_4", "key_5", "key_6"]) {
        await store.insertKey(keyOf(id, id === "key_5" ? { expiresAt: hours(115) } : {}));
        await rotate(id, hours(100), id === "key_6" ? null : hours(124));
      }
      const use = (id: string, hour: number, isPrevious = true) =>
        store.recordKeyUses([{ id, usedAt: hours(hour), ...(isPrevious ? { isPrevious: true } : {}) }]);
      const claim = async (hour: number, within = 168) => {
        const query = { now: hours(hour), withinMs: hours(within), limit: 9 };
        return (await store.claimFormerSecrets(query)).map(({ id }) => id).toSorted();
      };
      for (const id of ["key_1", "key_2", "key_5"]) await use(id, 103);
      await use("key_3", 110, false);
      expect(await claim(111)).toEqual([]);
      await use("key_1", 112);
      await use("key_4", 112);
      await store.revokeKey("key_4", hours(112));
      expect(await claim(113, 10)).toEqual([]);
      expect(await claim(113)).toEqual(["key_1"]);
      await use("key_1", 114);
      for (const id of ["key_2", "key_5"]) await use(id, 118);
      expect(await claim(118)).toEqual(["key_2"]);
      expect(await claim(119)).toEqual([]);
      await use("key_1", 123);
      expect(await claim(124)).toEqual([]);
      await rotate("key_1", hours(124), hours(134));
      expect(await claim(130)).toEqual([]);
      await use("key_1", 130);
      expect(await claim(130)).toEqual(["key_1"]);
      const revision = await store.keyRevision();
      await use("key_1", 131);
      expect(await store.keyRevision()).toBe(revision);
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
