import { describe, expect, test } from "bun:test";
import {
  type ConfigChangeSet,
  type ConfigSecret,
  type ConfigStore,
  MAX_REVISIONS,
} from "../../../src/core/stored-config/config-store.ts";
import type { CreateStore } from "./create-store.ts";

function secretOf(id: string, masterKeyId = "m1"): ConfigSecret {
  const sealed = { masterKeyId, ciphertext: `sealed ${id}` };
  return { id, accountId: null, lastFour: "1234", sealed, createdAt: 1_000, updatedAt: 1_000 };
}

function changeFrom(from: number, more: Partial<ConfigChangeSet> = {}): ConfigChangeSet {
  const document = { limits: { attempts: from + 1 } };
  const next = { document, changedAt: 1_000 + from, changedBy: "key_1", changed: [["limits", "attempts"]] };
  return { from, next, secrets: [], removedSecrets: [], ...more };
}

/** The contract of a `ConfigStore`. */
export function testConfigStore(createStore: CreateStore<ConfigStore>): void {
  describe("a store of the configuration", () => {
    test("makes each change the next revision, which other connections read", async () => {
      const [here, there] = [await createStore(), await createStore()];
      expect(await here.findLatestConfig()).toBeNull();
      expect(await here.putConfig(changeFrom(0))).toBe(1);
      expect(await there.putConfig(changeFrom(1))).toBe(2);
      expect(await here.findLatestConfig()).toEqual({ revision: 2, ...changeFrom(1).next });
      expect(await there.findConfigRevision(1)).toEqual({ revision: 1, ...changeFrom(0).next });
      expect(await there.findConfigRevision(3)).toBeNull();
    });

    test("makes one of two changes from the same revision, and nothing of the other", async () => {
      const [here, there] = [await createStore(), await createStore()];
      const made = await Promise.all([
        here.putConfig(changeFrom(0, { secrets: [secretOf("here")] })),
        there.putConfig(changeFrom(0, { secrets: [secretOf("there")] })),
      ]);
      expect(made.toSorted()).toEqual([1, null]);
      const [secret] = await here.listConfigSecrets();
      expect(secret?.id).toBe(made[0] === null ? "there" : "here");
      expect(await here.listConfigSecrets()).toHaveLength(1);
    });

    test("begins with several revisions, unless there is one already", async () => {
      const [here, there] = [await createStore(), await createStore()];
      const first = [changeFrom(0).next, changeFrom(1).next];
      const begun = await Promise.all([here.beginConfig(first), there.beginConfig(first)]);
      expect(begun.toSorted()).toEqual([false, true]);
      expect((await there.listConfigRevisions(null, 10)).map(({ revision }) => revision)).toEqual([2, 1]);
      expect(await there.findLatestConfig()).toEqual({ revision: 2, ...changeFrom(1).next });
      expect(await here.putConfig(changeFrom(2))).toBe(3);
      expect(await there.beginConfig(first)).toBe(false);
      expect((await here.findLatestConfig())?.revision).toBe(3);
    });

    test("changes its number of changes with each change, also for other connections", async () => {
      const [here, there] = [await createStore(), await createStore()];
      const before = await there.configChanges();
      await here.putConfig(changeFrom(0));
      const after = await there.configChanges();
      expect(after).not.toBe(before);
      await here.putConfig(changeFrom(0));
      expect(await there.configChanges()).toBe(after);
    });

    test("keeps the last revisions, and lists them without documents, the latest first", async () => {
      const store = await createStore();
      for (let from = 0; from < MAX_REVISIONS + 2; from++) await store.putConfig(changeFrom(from));
      expect(await store.findConfigRevision(2)).toBeNull();
      const { document: _, ...head } = changeFrom(MAX_REVISIONS + 1).next;
      const listed = await store.listConfigRevisions(null, MAX_REVISIONS + 10);
      expect(listed).toHaveLength(MAX_REVISIONS);
      expect(listed[0]).toEqual({ revision: MAX_REVISIONS + 2, ...head });
      const page = await store.listConfigRevisions(50, 2);
      expect(page.map(({ revision }) => revision)).toEqual([49, 48]);
    });

    test("adds, replaces and removes secrets with the change, and keeps when they were created", async () => {
      const store = await createStore();
      await store.putConfig(changeFrom(0, { secrets: [secretOf("a"), secretOf("b")] }));
      const replaced = { ...secretOf("a", "m2"), createdAt: 5_000, updatedAt: 5_000 };
      await store.putConfig(changeFrom(1, { secrets: [replaced], removedSecrets: ["b"] }));
      expect(await store.listConfigSecrets()).toEqual([{ ...replaced, createdAt: 1_000 }]);
    });

    test("re-encrypts secrets by the master key that they need, unless they were replaced meanwhile", async () => {
      const store = await createStore();
      await store.putConfig(changeFrom(0, { secrets: [secretOf("a"), secretOf("b", "m2"), secretOf("c")] }));
      const others = await store.listSealedByOthers("m2", null, 10);
      expect(others.map(({ id }) => id)).toEqual(["a", "c"]);
      expect((await store.listSealedByOthers("m2", "a", 10)).map(({ id }) => id)).toEqual(["c"]);
      const to = { masterKeyId: "m2", ciphertext: "other" };
      expect(await store.reseal("a", secretOf("a").sealed, to)).toBe(true);
      expect(await store.reseal("a", secretOf("a").sealed, to)).toBe(false);
      expect((await store.listMasterKeysInUse()).toSorted()).toEqual(["m1", "m2"]);
    });
  });
}
