import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  PromptLogEntry,
  PromptLogStore,
} from "../../src/core/extensions/prompt-log/prompt-log-store.ts";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { createSqlitePromptLogStore } from "../../src/storage/sqlite/prompt-log-store.ts";

/** A store under test. */
interface OpenedStore {
  readonly store: PromptLogStore;
  close(): void;
}

const ENTRY: PromptLogEntry = {
  id: "gen_1",
  accountId: "user_1",
  keyId: "key_1",
  createdAt: 1_000,
  expiresAt: 2_000,
  sealed: { masterKeyId: "master_1", ciphertext: "box" },
  ciphertext: Uint8Array.of(1, 2, 255),
};

/** What every prompt log store does. `open` makes an empty one. */
function describePromptLogStore(name: string, open: () => OpenedStore): void {
  describe(`the prompt log store in ${name}`, () => {
    let opened: OpenedStore;
    let store: PromptLogStore;
    beforeEach(() => {
      opened = open();
      store = opened.store;
    });
    afterEach(() => opened.close());

    test("an entry is found as it was added until the moment it expires", async () => {
      await store.addEntry(ENTRY);
      const found = await store.findEntry("gen_1", 1_999);
      expect(found).toEqual({ ...ENTRY, ciphertext: expect.anything() });
      expect(Buffer.from(found?.ciphertext ?? []).equals(ENTRY.ciphertext)).toBe(true);
      expect(await store.findEntry("gen_1", 2_000)).toBeNull();
      expect(await store.findEntry("gen_2", 1_999)).toBeNull();
    });

    test("adding an entry twice keeps the first", async () => {
      await store.addEntry(ENTRY);
      await store.addEntry({ ...ENTRY, accountId: "user_2" });
      expect((await store.findEntry("gen_1", 0))?.accountId).toBe("user_1");
    });

    test("deleteExpired deletes only expired entries, and at most as many as its limit", async () => {
      for (const [id, expiresAt] of [
        ["a", 100],
        ["b", 200],
        ["c", 300],
      ] as const)
        await store.addEntry({ ...ENTRY, id, expiresAt });
      expect(await store.deleteExpired(200, 1)).toBe(1);
      expect(await store.deleteExpired(200, 10)).toBe(1);
      expect(await store.deleteExpired(200, 10)).toBe(0);
      expect(await store.findEntry("c", 0)).not.toBeNull();
    });

    test("a data key is resealed only if it is still the one that was read", async () => {
      await store.addEntry(ENTRY);
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

describePromptLogStore("SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "prompt-log-"));
  const database = openDatabase(folder);
  return {
    store: createSqlitePromptLogStore(database),
    close() {
      database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});
