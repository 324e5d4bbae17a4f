import { describe, expect, test } from "bun:test";
import type { Drain, DrainStore } from "../../../src/core/routing/health/drain-store.ts";
import type { CreateStore } from "./create-store.ts";

function drainOf(provider: string, more: Partial<Drain> = {}): Drain {
  return { provider, model: null, since: 1_000, until: null, note: null, ...more };
}

/** The contract of a `DrainStore`. */
export function testDrainStore(createStore: CreateStore<DrainStore>): void {
  describe("a drain store", () => {
    test("stores drains of providers and of single endpoints, which other connections read", async () => {
      const [here, there] = [await createStore(), await createStore()];
      expect(await here.listDrains()).toEqual([]);
      const ofAll = drainOf("openai");
      const ofModel = drainOf("openai", { model: "openai/gpt", until: 2_000, note: "an invoice" });
      await here.putDrain(ofModel);
      await here.putDrain(ofAll);
      await here.putDrain(drainOf("anthropic"));
      expect(await there.listDrains()).toEqual([drainOf("anthropic"), ofAll, ofModel]);
    });

    test("replaces the drain of the same target", async () => {
      const store = await createStore();
      await store.putDrain(drainOf("openai"));
      await store.putDrain(drainOf("openai", { until: 5_000 }));
      expect(await store.listDrains()).toEqual([drainOf("openai", { until: 5_000 })]);
    });

    test("deletes the drain of exactly one target, once", async () => {
      const store = await createStore();
      await store.putDrain(drainOf("openai"));
      await store.putDrain(drainOf("openai", { model: "openai/gpt" }));
      expect(await store.deleteDrain({ provider: "openai", model: null })).toBe(true);
      expect(await store.deleteDrain({ provider: "openai", model: null })).toBe(false);
      expect(await store.listDrains()).toEqual([drainOf("openai", { model: "openai/gpt" })]);
    });

    test("changes its revision with each change, also for other connections", async () => {
      const [here, there] = [await createStore(), await createStore()];
      const seen = [await there.drainRevision()];
      await here.putDrain(drainOf("openai"));
      seen.push(await there.drainRevision());
      await here.deleteDrain({ provider: "openai", model: null });
      seen.push(await there.drainRevision());
      expect(new Set(seen).size).toBe(3);
      expect(await there.drainRevision()).toBe(seen.at(-1) as number);
    });
  });
}
