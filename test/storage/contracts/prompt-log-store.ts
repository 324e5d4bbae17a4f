import { describe, expect, test } from "bun:test";
import type {
  PromptLogEntry,
  PromptLogStore,
} from "../../../src/core/extensions/prompt-log/prompt-log-store.ts";
import type { CreateStore } from "./create-store.ts";

const ENTRY: PromptLogEntry = {
  id: "gen_1",
  accountId: "user_1",
  keyId: "key_1",
  createdAt: 1_000,
  expiresAt: 2_000,
  sealed: { masterKeyId: "master_1", ciphertext: "box" },
  ciphertext: Uint8Array.of(1, 2, 255),
};

/** The contract of a `PromptLogStore`. */
export function testPromptLogStore(createStore: CreateStore<PromptLogStore>): void {
  describe("a prompt log store", () => {
    test("finds an entry as it was added until the moment it expires", async () => {
      const store = await createStore();
      await store.addEntries([ENTRY]);
      const found = await store.findEntry("gen_1", 1_999);
      expect(found).toEqual({ ...ENTRY, ciphertext: expect.anything() });
      expect(Buffer.from(found?.ciphertext ?? []).equals(ENTRY.ciphertext)).toBe(true);
      expect(await store.findEntry("gen_1", 2_000)).toBeNull();
      expect(await store.findEntry("gen_2", 1_999)).toBeNull();
      expect([
        await store.hasEntry("gen_1", 1_999),
        await store.hasEntry("gen_1", 2_000),
        await store.hasEntry("gen_2", 1_999),
      ]).toEqual([true, false, false]);
    });

    test("keeps the first of two entries for one generation", async () => {
      const store = await createStore();
      await store.addEntries([ENTRY]);
      await store.addEntries([{ ...ENTRY, accountId: "user_2" }]);
      expect((await store.findEntry("gen_1", 0))?.accountId).toBe("user_1");
    });

    test("deletes only expired entries, and at most as many as the limit", async () => {
      const store = await createStore();
      for (const [id, expiresAt] of [
        ["a", 100],
        ["b", 200],
        ["c", 300],
      ] as const)
        await store.addEntries([{ ...ENTRY, id, expiresAt }]);
      expect(await store.deleteExpired(200, 1)).toBe(1);
      expect(await store.deleteExpired(200, 10)).toBe(1);
      expect(await store.deleteExpired(200, 10)).toBe(0);
      expect(await store.findEntry("c", 0)).not.toBeNull();
    });

    test("reseals a data key only if it is still the one that was read", async () => {
      const store = await createStore();
      await store.addEntries([ENTRY]);
      const next = { masterKeyId: "master_2", ciphertext: "other" };
      expect(await store.listMasterKeysInUse()).toEqual(["master_1"]);
      expect(await store.listSealedByOthers("master_2", null, 10)).toMatchObject([{ id: "gen_1" }]);
      expect(await store.listSealedByOthers("master_2", "gen_1", 10)).toEqual([]);
      expect(await store.reseal("gen_1", next, next)).toBe(false);
      expect(await store.reseal("gen_1", ENTRY.sealed, next)).toBe(true);
      expect((await store.findEntry("gen_1", 0))?.sealed).toEqual(next);
      expect(await store.listSealedByOthers("master_2", null, 10)).toEqual([]);
    });
  });
}
