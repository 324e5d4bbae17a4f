import { describe, expect, test } from "bun:test";
import type { ProviderKeyStore } from "../../../src/core/provider-keys/provider-key-store.ts";
import type { CreateStore } from "./create-store.ts";
import { providerKeyOf } from "./samples.ts";

const idsOf = (keys: readonly { readonly id: string }[]) => keys.map(({ id }) => id);

/** The contract of a `ProviderKeyStore`. */
export function testProviderKeyStore(createStore: CreateStore<ProviderKeyStore>): void {
  describe("a provider key store", () => {
    test("returns a key with every field as it was inserted", async () => {
      const store = await createStore();
      const key = providerKeyOf("pkey_1", {
        models: ["author/*"],
        members: ["user_a"],
        enabled: false,
        order: 3,
      });
      await store.insertProviderKey(key);
      expect(await store.findProviderKey("pkey_1")).toEqual(key);
      expect(await store.findProviderKey("pkey_2")).toBeNull();
    });

    test("lists the keys of an account by provider, then by order", async () => {
      const store = await createStore();
      await store.insertProviderKey(providerKeyOf("pkey_1", { order: 2 }));
      await store.insertProviderKey(providerKeyOf("pkey_2", { order: 1 }));
      await store.insertProviderKey(providerKeyOf("pkey_3", { provider: "anthropic" }));
      await store.insertProviderKey(providerKeyOf("pkey_4", { accountId: "org_a" }));
      expect(idsOf(await store.listProviderKeys("user_a"))).toEqual(["pkey_3", "pkey_2", "pkey_1"]);
    });

    test("updates a key, and its secret only when a new one is given", async () => {
      const store = await createStore();
      await store.insertProviderKey(providerKeyOf("pkey_1"));
      const renamed = providerKeyOf("pkey_1", { name: "new", updatedAt: 2_000 });
      expect(await store.updateProviderKey(renamed, null)).toBe(true);
      expect(await store.findProviderKey("pkey_1")).toEqual(renamed);
      const sealed = { masterKeyId: "master_2", ciphertext: "other ciphertext" };
      await store.updateProviderKey(renamed, sealed);
      expect(await store.findProviderKey("pkey_1")).toEqual({ ...renamed, sealed });
      expect(await store.updateProviderKey(providerKeyOf("pkey_2"), null)).toBe(false);
    });

    test("removes a key once", async () => {
      const store = await createStore();
      await store.insertProviderKey(providerKeyOf("pkey_1"));
      expect(await store.removeProviderKey("pkey_1")).toBe(true);
      expect(await store.removeProviderKey("pkey_1")).toBe(false);
      expect(await store.findProviderKey("pkey_1")).toBeNull();
    });

    test("raises the revision with an insertion, update and removal, also for other connections", async () => {
      const [here, there] = [await createStore(), await createStore()];
      const revisions = [await there.providerKeyRevision()];
      await here.insertProviderKey(providerKeyOf("pkey_1"));
      revisions.push(await there.providerKeyRevision());
      await here.updateProviderKey(providerKeyOf("pkey_1", { name: "new" }), null);
      revisions.push(await there.providerKeyRevision());
      await here.removeProviderKey("pkey_1");
      revisions.push(await there.providerKeyRevision());
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    });

    test("keeps the revision when a key is used or sealed again", async () => {
      const store = await createStore();
      const key = providerKeyOf("pkey_1");
      await store.insertProviderKey(key);
      const before = await store.providerKeyRevision();
      await store.recordKeyUses([{ id: "pkey_1", usedAt: 5_000, error: null }]);
      await store.reseal("pkey_1", key.sealed, { masterKeyId: "master_2", ciphertext: "other" });
      expect(await store.providerKeyRevision()).toBe(before);
    });

    test("keeps the latest use and the latest error of each key", async () => {
      const store = await createStore();
      await store.insertProviderKey(providerKeyOf("pkey_1"));
      const error = { message: "quota", at: 5_000 };
      await store.recordKeyUses([
        { id: "pkey_1", usedAt: 5_000, error },
        { id: "pkey_1", usedAt: 4_000, error: null },
        { id: "pkey_removed", usedAt: 6_000, error: null },
      ]);
      expect(await store.findProviderKey("pkey_1")).toMatchObject({ lastUsedAt: 5_000, lastError: error });
    });

    test("keeps the latest use of each key when two connections record uses of the same keys at the same time", async () => {
      const [here, there] = [await createStore(), await createStore()];
      const ids = ["pkey_1", "pkey_2", "pkey_3"];
      for (const id of ids) await here.insertProviderKey(providerKeyOf(id));
      const usesAt = (usedAt: number, order: readonly string[]) =>
        order.map((id) => ({ id, usedAt, error: { message: `failed at ${usedAt}`, at: usedAt } }));
      const backwards = [...ids].reverse();
      await Promise.all(
        Array.from({ length: 10 }, (_, i) => [
          here.recordKeyUses(usesAt(5_000 + 2 * i, ids)),
          there.recordKeyUses(usesAt(5_001 + 2 * i, backwards)),
        ]).flat(),
      );
      for (const id of ids)
        expect(await here.findProviderKey(id)).toMatchObject({ lastUsedAt: 5_019, lastError: { at: 5_019 } });
    });

    test("lists the keys that other master keys have sealed, by id, page by page", async () => {
      const store = await createStore();
      for (const id of ["pkey_3", "pkey_1", "pkey_2"]) await store.insertProviderKey(providerKeyOf(id));
      const sealed = { masterKeyId: "master_2", ciphertext: "ciphertext" };
      await store.insertProviderKey(providerKeyOf("pkey_4", { sealed }));
      expect(idsOf(await store.listSealedByOthers("master_2", null, 2))).toEqual(["pkey_1", "pkey_2"]);
      expect(idsOf(await store.listSealedByOthers("master_2", "pkey_2", 2))).toEqual(["pkey_3"]);
      expect(idsOf(await store.listSealedByOthers(null, "pkey_2", 9))).toEqual(["pkey_3", "pkey_4"]);
      expect([...(await store.listMasterKeysInUse())].sort()).toEqual(["master_1", "master_2"]);
    });

    test("does not replace a sealed secret that was replaced meanwhile", async () => {
      const store = await createStore();
      const key = providerKeyOf("pkey_1");
      await store.insertProviderKey(key);
      const [second, third] = [
        { masterKeyId: "master_2", ciphertext: "second" },
        { masterKeyId: "master_3", ciphertext: "third" },
      ];
      expect(await store.reseal("pkey_1", key.sealed, second)).toBe(true);
      expect(await store.reseal("pkey_1", key.sealed, third)).toBe(false);
      expect((await store.findProviderKey("pkey_1"))?.sealed).toEqual(second);
    });
  });
}
