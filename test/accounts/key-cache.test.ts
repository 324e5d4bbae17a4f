import { describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../src/base/random.ts";
import { createKeyCache } from "../../src/core/accounts/key-cache.ts";
import type { KeyStore } from "../../src/core/accounts/key-store.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../../src/core/accounts/records.ts";
import { createSecret, hashSecret } from "../../src/core/accounts/secrets.ts";

import { createTestClock } from "../support/test-clock.ts";

const SECRET = createSecret(createSystemRandom());
const KEY: KeyRecord = {
  id: "key_1",
  kind: "inference",
  accountId: DEFAULT_ACCOUNT_ID,
  userId: null,
  spendLimit: null,
  models: null,
  rateLimit: null,
  name: "test",
  hash: hashSecret(SECRET),
  hint: "",
  createdAt: 0,
  expiresAt: null,
  revokedAt: null,
};

/** A store with one key, whose answers wait until they are let go; what they say is read when they are asked for. */
function createSlowStore() {
  let key = KEY;
  let revision = 0;
  let gate = Promise.resolve();
  const store: KeyStore = {
    insertKey: () => Promise.reject(new Error("not in this test")),
    listKeys: async () => [key],
    findKey: async () => key,
    changeKey: () => Promise.reject(new Error("not in this test")),
    async findKeyByHash(hash) {
      const found = hash === key.hash ? key : null;
      await gate;
      return found;
    },
    async revokeKey(_id, revokedAt) {
      key = { ...key, revokedAt };
      revision += 1;
      return key;
    },
    keyRevision: async () => revision,
  };
  return {
    store,
    /** Makes answers wait; what comes back lets them go. */
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

describe("a key that is revoked while it is being looked up", () => {
  test.each([
    ["by this process", (ring: ReturnType<typeof createKeyCache>) => ring.forget()],
    ["by another one", (ring: ReturnType<typeof createKeyCache>) => ring.refresh()],
  ])("%s is refused from then on", async (_who, hear) => {
    const { store, hold } = createSlowStore();
    const ring = createKeyCache(store, createTestClock(), null);
    await ring.refresh();
    const letGo = hold();
    const early = ring.identify(SECRET);
    await store.revokeKey(KEY.id, 1);
    await hear(ring);
    letGo();
    // It was asked for before, and may have either answer.
    await early;
    expect(await ring.identify(SECRET)).toBeNull();
  });
});

test("a key that was looked up is remembered, and forgotten only with a change", async () => {
  const { store } = createSlowStore();
  const ring = createKeyCache(store, createTestClock(), null);
  await ring.refresh();
  expect(await ring.identify(SECRET)).toEqual(KEY);
  await ring.refresh();
  expect(ring.identify(SECRET)).toEqual(KEY);
  await store.revokeKey(KEY.id, 1);
  await ring.refresh();
  expect(await ring.identify(SECRET)).toBeNull();
});
