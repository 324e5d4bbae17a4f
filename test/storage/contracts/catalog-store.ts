import { describe, expect, test } from "bun:test";
import type { ModelRecord } from "../../../src/core/catalog/records/records.ts";
import {
  type CatalogStore,
  NO_REFRESH,
  type RefreshState,
} from "../../../src/core/catalog/refresh/catalog-store.ts";
import type { CreateStore } from "./create-store.ts";

const MODEL: ModelRecord = {
  id: "openai/gpt-a",
  name: "GPT A",
  description: null,
  released: null,
  inputModalities: ["text"],
  outputModalities: ["text"],
  tokenizer: null,
  supportedParameters: ["max_tokens"],
  expires: null,
  endpoints: [
    {
      provider: "openai",
      name: "gpt-a",
      contextLength: 1000,
      maxOutputTokens: 100,
      prices: { prompt: "0.000001", completion: "0.000002" },
    },
  ],
};

const STATE: RefreshState = {
  ...NO_REFRESH,
  attemptedAt: 2_000,
  refreshedAt: 1_000,
  problem: "the source is empty",
  difference: ["+ openai/gpt-a"],
  rejected: [
    {
      id: "change_a",
      model: "openai/gpt-a",
      provider: "openai",
      name: "gpt-a",
      before: { prices: { prompt: "0.000001", completion: "0.000002" } },
      after: { prices: { prompt: "0.000009", completion: "0.000002" } },
      jumps: [{ kind: "prompt", before: "0.000001", after: "0.000009" }],
      seenAt: 500,
    },
  ],
};

/** The contract of a `CatalogStore`. */
export function testCatalogStore(createStore: CreateStore<CatalogStore>): void {
  describe("a catalog store", () => {
    test("has no catalog and no refresh state until one is written", async () => {
      const store = await createStore();
      expect(await store.readCatalog()).toBeNull();
      expect(await store.readRefreshState()).toEqual(NO_REFRESH);
    });

    test("returns the catalog that was written last, over whichever connection", async () => {
      const [here, there] = [await createStore(), await createStore()];
      await here.writeCatalog({ source: "first", models: [MODEL] });
      await there.writeCatalog({ source: "second", models: [{ ...MODEL, name: "GPT B" }] });
      const { value } = (await here.readCatalog()) ?? {};
      expect(value?.source).toBe("second");
      expect(value?.models).toMatchObject([{ ...MODEL, name: "GPT B" }]);
    });

    test("changes its version with every write of the catalog, and not with the refresh state", async () => {
      const store = await createStore();
      const versions = [await store.readVersion()];
      for (const source of ["first", "second"]) {
        await store.writeCatalog({ source, models: [MODEL] });
        versions.push(await store.readVersion());
      }
      expect(new Set(versions).size).toBe(3);
      await store.writeRefreshState(STATE);
      expect(await (await createStore()).readVersion()).toBe(versions[2] as string);
    });

    test("returns the refresh state that was written last, held changes included", async () => {
      await (await createStore()).writeRefreshState(STATE);
      expect(await (await createStore()).readRefreshState()).toEqual(STATE);
    });
  });
}
