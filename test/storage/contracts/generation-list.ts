import { describe, expect, test } from "bun:test";
import { lowestIdAt } from "../../../src/base/ids.ts";
import {
  type GenerationList,
  type GenerationQuery,
  SCANNED_GENERATIONS,
  type UsageStore,
} from "../../../src/core/usage/usage-store.ts";
import type { CreateStore } from "./create-store.ts";
import { openUsageOf, usageOf } from "./samples.ts";

const DAY_MS = 86_400_000;
const NEWEST: GenerationQuery = {
  accountId: null,
  keyId: null,
  model: null,
  outcome: null,
  before: null,
  limit: 2,
};

const idAt = (ms: number): string => `${lowestIdAt("gen", ms)}0000000000000000`;

/** The contract of a `GenerationList`. */
export function testGenerationList(createStore: CreateStore<GenerationList & UsageStore>): void {
  describe("a list of generations", () => {
    async function listAll(store: GenerationList, query: Partial<GenerationQuery> = {}) {
      const pages: string[][] = [];
      let before: string | null = null;
      do {
        const page = await store.listGenerations({ ...NEWEST, ...query, before });
        pages.push(page.records.map(({ id }) => id));
        before = page.next;
      } while (before !== null);
      return pages;
    }

    test("has all generations, newest first and in pages, over the limits of days", async () => {
      const store = await createStore();
      const ids = [0, 1, 2, 3, 4].map((i) => idAt(20_000 * DAY_MS + i * 0.6 * DAY_MS));
      await store.saveUsage(ids.map((id) => usageOf(id)));
      expect(await listAll(store)).toEqual([[ids[4]!, ids[3]!], [ids[2]!, ids[1]!], [ids[0]!]]);
      expect(await listAll(store, { limit: 5 })).toEqual([[...ids].reverse()]);
    });

    test("has only the generations of an account, API key, model and outcome", async () => {
      const store = await createStore();
      const id = (n: number) => idAt(20_000 * DAY_MS + n);
      await store.saveUsage([
        usageOf(id(1)),
        usageOf(id(2), { accountId: "org_a" }),
        usageOf(id(3), { accountId: "org_a", keyId: "key_b" }),
        usageOf(id(4), { accountId: "org_a", model: "author/other" }),
        usageOf(id(5), { outcome: "failed", model: null, requestedModel: "author/other" }),
        openUsageOf(id(6), { accountId: "org_a" }),
      ]);
      const list = async (query: Partial<GenerationQuery>) =>
        (await listAll(store, query)).flat().map((found) => [1, 2, 3, 4, 5, 6].find((n) => id(n) === found));
      expect(await list({})).toEqual([6, 5, 4, 3, 2, 1]);
      expect(await list({ accountId: "org_a" })).toEqual([6, 4, 3, 2]);
      expect(await list({ keyId: "key_b" })).toEqual([3]);
      expect(await list({ model: "author/other" })).toEqual([5, 4]);
      expect(await list({ accountId: "org_a", model: "author/other" })).toEqual([4]);
      expect(await list({ outcome: "failed" })).toEqual([5]);
      expect(await list({ outcome: "open" })).toEqual([6]);
      expect(await list({ accountId: "org_a", keyId: "key_a", outcome: "completed" })).toEqual([4, 2]);
      expect(await list({ accountId: "user_none" })).toEqual([]);
    });

    test("goes on after the generations that were read without a match", async () => {
      const store = await createStore();
      const id = (n: number) => idAt(20_000 * DAY_MS + n);
      const entries = Array.from({ length: SCANNED_GENERATIONS + 10 }, (_, n) => usageOf(id(n)));
      entries[3] = usageOf(id(3), { model: "author/rare" });
      await store.saveUsage(entries);
      const rare = { ...NEWEST, accountId: "user_a", model: "author/rare" };
      const first = await store.listGenerations({ ...rare, keyId: "key_a" });
      expect(first).toEqual({ records: [], next: id(10) });
      const second = await store.listGenerations({ ...rare, keyId: "key_a", before: first.next });
      expect(second.records.map((record) => record.id)).toEqual([id(3)]);
      expect(second.next).toBeNull();
    });
  });
}
