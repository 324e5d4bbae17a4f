import { describe, expect, test } from "bun:test";
import { StoreHealth } from "../../src/base/store-health.ts";
import { createProviderKeyCache } from "../../src/core/provider-keys/provider-key-cache.ts";
import type { KeyUse } from "../../src/core/provider-keys/records.ts";
import { createTestClock } from "../support/test-clock.ts";

/** A cache over a store whose writes end when the test releases them. */
function createSlowCache() {
  const stored: KeyUse[] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  const cache = createProviderKeyCache({
    store: {
      listProviderKeys: async () => [],
      providerKeyRevision: async () => 0,
      async recordKeyUses(uses) {
        const gate = Promise.withResolvers<void>();
        gates.push(gate);
        await gate.promise;
        stored.push(...uses);
      },
    },
    health: new StoreHealth({ clock: createTestClock(), maxStalenessMs: 60_000 }),
    vault: { seal: never, open: never, createSealer: never },
    onUnreadable: never,
  });
  return { cache, stored, gates };
}

function never(): never {
  throw new Error("not in this test");
}

const failed: KeyUse = { id: "pkey_1", usedAt: 5, error: { message: "gone", at: 5 } };

describe("the last use of a provider key", () => {
  test("is stored once saveUses resolves, also if another call was saving it already", async () => {
    const { cache, stored, gates } = createSlowCache();
    cache.recordUse(failed);
    const first = cache.saveUses();
    const second = cache.saveUses().then(() => [...stored]);
    for (const gate of gates.toReversed()) gate.resolve();
    expect(await second).toContainEqual(failed);
    await first;
    await cache.saveUses();
    expect(gates.length).toBe(2);
  });

  test("is kept, with its error, until the store takes it", async () => {
    const { cache, stored, gates } = createSlowCache();
    cache.recordUse(failed);
    const lost = cache.saveUses();
    cache.recordUse({ id: failed.id, usedAt: 6, error: null });
    gates[0]?.reject(new Error("away"));
    await expect(lost).rejects.toThrow("away");
    const saved = cache.saveUses();
    gates[1]?.resolve();
    await saved;
    expect(stored).toEqual([{ ...failed, usedAt: 6 }]);
  });
});
