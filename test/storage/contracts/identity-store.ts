import { describe, expect, test } from "bun:test";
import type { Identity, IdentityStore } from "../../../src/core/console/identity-store.ts";
import type { CreateStore } from "./create-store.ts";

const ISSUER = "https://id.example";
const ADA: Identity = { issuer: ISSUER, subject: "1", userId: "user_a", createdAt: 1_795_000_000_123 };

/** The contract of an `IdentityStore`. */
export function testIdentityStore(createStore: CreateStore<IdentityStore>): void {
  describe("an identity store", () => {
    test("finds an identity by issuer and subject together", async () => {
      const store = await createStore();
      expect(await store.addIdentity(ADA)).toBe(true);
      expect(await store.findIdentity(ISSUER, "1")).toEqual(ADA);
      expect(await store.findIdentity("https://other.example", "1")).toBeNull();
      expect(await store.findIdentity(ISSUER, "2")).toBeNull();
    });

    test("links an identity to one user only, whichever connection adds it", async () => {
      const [here, there] = [await createStore(), await createStore()];
      await here.addIdentity(ADA);
      expect(await there.addIdentity({ ...ADA, userId: "user_b" })).toBe(false);
      expect((await here.findIdentity(ISSUER, "1"))?.userId).toBe("user_a");
    });

    test("lists identities and removes one", async () => {
      const store = await createStore();
      const eve = { ...ADA, subject: "2", userId: "user_b", createdAt: ADA.createdAt + 1 };
      for (const identity of [eve, ADA]) await store.addIdentity(identity);
      expect(await store.listIdentities(10)).toEqual([ADA, eve]);
      expect(await store.listIdentities(1)).toEqual([ADA]);
      expect([await store.removeIdentity(ISSUER, "1"), await store.removeIdentity(ISSUER, "1")]).toEqual([
        true,
        false,
      ]);
      expect(await store.listIdentities(10)).toEqual([eve]);
    });
  });
}
