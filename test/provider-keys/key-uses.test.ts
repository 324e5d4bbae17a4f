import { describe, expect, test } from "bun:test";
import { StoreHealth } from "../../src/base/failures/store-health.ts";
import { createProviderKeyCache } from "../../src/core/provider-keys/provider-key-cache.ts";
import type { ProviderKeyUse } from "../../src/core/provider-keys/records.ts";
import { createTestClock } from "../support/test-clock.ts";

/** A cache over a store that saves uses so. */
function createCache(recordKeyUses: (uses: readonly ProviderKeyUse[]) => Promise<void>) {
  return createProviderKeyCache({
    store: { listProviderKeys: async () => [], providerKeyRevision: async () => 0, recordKeyUses },
    health: new StoreHealth({ clock: createTestClock(), maxStalenessMs: 60_000 }),
    vault: { seal: never, open: never, createSealer: never },
    onUnreadable: never,
  });
}

/** A cache over a store whose writes end when the test releases them. */
function createSlowCache() {
  const stored: ProviderKeyUse[] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  const cache = createCache(async (uses) => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    stored.push(...uses);
  });
  return { cache, stored, gates };
}

function never(): never {
  throw new Error("not in this test");
}

const failed: ProviderKeyUse = { id: "pkey_1", usedAt: 5, error: { message: "gone", at: 5 } };

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

  test("is saved for 250 keys in one turn of the event loop, so that requests go on between them", async () => {
    let turn = 0;
    const saved: (readonly [turn: number, uses: number])[] = [];
    const cache = createCache(async (uses) => void saved.push([turn, uses.length]));
    for (let at = 0; at < 600; at++) cache.recordUse({ id: `pkey_${at}`, usedAt: 5, error: null });
    let isOver = false;
    setImmediate(function count() {
      turn += 1;
      if (!isOver) setImmediate(count);
    });
    await cache.saveUses();
    isOver = true;
    expect(saved.map(([, uses]) => uses)).toEqual([250, 250, 100]);
    expect(new Set(saved.map(([at]) => at)).size).toBe(3);
  });
});
