import { describe, expect, test } from "bun:test";
import { StoreHealth } from "../../src/base/failures/store-health.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { createKeyCache } from "../../src/core/accounts/memory/key-cache.ts";
import { DEFAULT_ACCOUNT_ID, FIRST_SECRET, type KeyRecord } from "../../src/core/accounts/records/records.ts";
import { createSecret, hashSecret } from "../../src/core/accounts/records/secrets.ts";
import type { KeyStore, KeyUse } from "../../src/core/accounts/stores/key-store.ts";
import { createTestClock } from "../support/test-clock.ts";

const SECRET = createSecret(createSystemRandom());
const KEY: KeyRecord = {
  id: "key_1",
  kind: "inference",
  accountId: DEFAULT_ACCOUNT_ID,
  userId: null,
  spendLimit: null,
  spendLimitPeriod: null,
  models: null,
  rateLimit: null,
  promptLog: null,
  cache: null,
  name: "test",
  hash: hashSecret(SECRET),
  hint: "",
  teamId: null,
  tags: null,
  ...FIRST_SECRET,
  createdAt: 0,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};

/** A store with one key. Lookups read the key at once, and return it when they are released. */
function createSlowStore(key = KEY) {
  const recorded: KeyUse[] = [];
  let lookups = 0;
  let revision = 0;
  let gate = Promise.resolve();
  const store: KeyStore = {
    insertKey: () => Promise.reject(new Error("not in this test")),
    insertKeyWithin: () => Promise.reject(new Error("not in this test")),
    countValidKeys: () => Promise.reject(new Error("not in this test")),
    rotateKey: () => Promise.reject(new Error("not in this test")),
    listExpiringKeys: async () => [],
    claimFormerSecrets: async () => [],
    listKeys: async () => [key],
    findKey: async () => key,
    findKeyNames: async () => new Map([[key.id, key.name]]),
    changeKey: () => Promise.reject(new Error("not in this test")),
    async findKeyByHash(hash) {
      lookups += 1;
      const found = hash === key.hash ? key : null;
      await gate;
      return found;
    },
    async revokeKey(_id, revokedAt) {
      key = { ...key, revokedAt };
      revision += 1;
      return key;
    },
    async recordKeyUses(uses) {
      recorded.push(...uses);
    },
    keyRevision: async () => revision,
  };
  return {
    store,
    recorded,
    countLookups: () => lookups,
    /** Makes lookups wait. Returns a function that releases them. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = Promise.resolve();
        resolve();
      };
    },
  };
}

function createCache(store: KeyStore, adminSecret: string | null = null, clock = createTestClock()) {
  const health = new StoreHealth({ clock, maxStalenessMs: 60_000 });
  return createKeyCache({ store, health, clock, adminSecret });
}

describe("a key that is revoked during its lookup", () => {
  test.each([
    ["this process", (cache: ReturnType<typeof createKeyCache>) => cache.changed(KEY)],
    ["another process", (cache: ReturnType<typeof createKeyCache>) => cache.refresh()],
  ])("is rejected by later requests if %s revoked it", async (_who, notice) => {
    const { store, hold } = createSlowStore();
    const cache = createCache(store);
    await cache.refresh();
    const release = hold();
    const early = cache.identify(SECRET);
    await store.revokeKey(KEY.id, 1);
    await notice(cache);
    release();
    // This lookup began before the revocation; either result is right.
    await early;
    expect(await cache.identify(SECRET)).toBeNull();
  });
});

test("a key is looked up in the store once, and again only after a key has changed", async () => {
  const { store, countLookups } = createSlowStore();
  const cache = createCache(store);
  await cache.refresh();
  expect(await cache.identify(SECRET)).toEqual({ kind: "key", key: KEY });
  await cache.refresh();
  expect(await cache.identify(SECRET)).toEqual({ kind: "key", key: KEY });
  expect(countLookups()).toBe(1);
  await store.revokeKey(KEY.id, 1);
  await cache.refresh();
  expect(await cache.identify(SECRET)).toBeNull();
  expect(countLookups()).toBe(2);
});

test("the configured admin key and management keys of the operator account identify the operator", async () => {
  const { store, countLookups } = createSlowStore({ ...KEY, kind: "management" });
  const cache = createCache(store, "an admin key of any form");
  expect(await cache.identify("an admin key of any form")).toEqual({
    kind: "operator",
    keyId: "key_operator",
  });
  expect(countLookups()).toBe(0);
  expect(await cache.identify(SECRET)).toEqual({ kind: "operator", keyId: KEY.id });
});

describe("the last use of a key", () => {
  const HOUR_MS = 3_600_000;

  test("is saved once in an hour, however often the key is used, and again in the next hour", async () => {
    const { store, recorded } = createSlowStore();
    const clock = createTestClock();
    const cache = createCache(store, null, clock);
    const hour = clock.now() - (clock.now() % HOUR_MS);
    await cache.saveUses();
    for (let time = 0; time < 3; time++) {
      await cache.identify(SECRET);
      await cache.saveUses();
    }
    clock.leap(HOUR_MS);
    await cache.identify(SECRET);
    await cache.saveUses();
    expect(recorded).toEqual([
      { id: KEY.id, usedAt: hour },
      { id: KEY.id, usedAt: hour + HOUR_MS },
    ]);
  });

  test("is kept until the store takes it", async () => {
    const { store, recorded } = createSlowStore();
    const { recordKeyUses } = store;
    const cache = createCache(store);
    await cache.identify(SECRET);
    store.recordKeyUses = () => Promise.reject(new Error("away"));
    await expect(cache.saveUses()).rejects.toThrow("away");
    store.recordKeyUses = recordKeyUses;
    await cache.saveUses();
    expect(recorded).toHaveLength(1);
  });

  test("is not recorded for a key that is rejected", async () => {
    const { store, recorded } = createSlowStore({ ...KEY, revokedAt: 1 });
    const cache = createCache(store);
    expect(await cache.identify(SECRET)).toBeNull();
    await cache.saveUses();
    expect(recorded).toEqual([]);
  });
});
