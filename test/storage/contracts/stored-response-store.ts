import { describe, expect, test } from "bun:test";
import type { StoredResponseStore } from "../../../src/core/idempotency/stored-response-store.ts";
import type { CreateStore } from "./create-store.ts";

const claim = { fingerprint: "fingerprint", at: 1_000, expiredAt: 0, maxNames: 3 };
const keyOf = (name: string, scope = "key_a") => ({ scope, name });

/** The contract of a `StoredResponseStore`. */
export function testStoredResponseStore(createStore: CreateStore<StoredResponseStore>): void {
  describe("a stored response store", () => {
    test("gives an idempotency key to the first claim only, whichever connection makes it", async () => {
      const [here, there] = [await createStore(), await createStore()];
      expect(await here.claimKey(keyOf("a"), claim)).toEqual({ kind: "first" });
      const repeated = { kind: "repeated", fingerprint: "fingerprint", answer: null } as const;
      expect(await there.claimKey(keyOf("a"), { ...claim, fingerprint: "other" })).toEqual(repeated);
    });

    test("gives an idempotency key to one of the claims that two connections make at the same time", async () => {
      const stores = [await createStore(), await createStore()];
      const claims = await Promise.all(
        stores.flatMap((store) => Array.from({ length: 5 }, () => store.claimKey(keyOf("a"), claim))),
      );
      expect(claims.filter(({ kind }) => kind === "first")).toHaveLength(1);
      expect(claims.filter(({ kind }) => kind === "repeated")).toHaveLength(9);
    });

    test.each(['{"id":1}', null])(
      "returns the stored response to later claims, with the body %p",
      async (body) => {
        const store = await createStore();
        await store.claimKey(keyOf("a"), claim);
        await store.storeResponse(keyOf("a"), { status: 201, body });
        const repeated = await store.claimKey(keyOf("a"), claim);
        expect(repeated).toMatchObject({ kind: "repeated", answer: { status: 201, body } });
      },
    );

    test("lets a released idempotency key be claimed again", async () => {
      const store = await createStore();
      await store.claimKey(keyOf("a"), claim);
      await store.releaseKey(keyOf("a"));
      expect((await store.claimKey(keyOf("a"), claim)).kind).toBe("first");
    });

    test("says whether an idempotency key is claimed, until it is released or has expired", async () => {
      const store = await createStore();
      expect(await store.isClaimed(keyOf("a"), 0)).toBe(false);
      await store.claimKey(keyOf("a"), claim);
      expect(await store.isClaimed(keyOf("a"), 0)).toBe(true);
      expect(await store.isClaimed(keyOf("a", "key_b"), 0)).toBe(false);
      expect(await store.isClaimed(keyOf("a"), claim.at + 1)).toBe(false);
      await store.releaseKey(keyOf("a"));
      expect(await store.isClaimed(keyOf("a"), 0)).toBe(false);
    });

    test("bounds the idempotency keys of each scope separately", async () => {
      const store = await createStore();
      for (const name of ["a", "b", "c"]) await store.claimKey(keyOf(name), claim);
      expect((await store.claimKey(keyOf("d"), claim)).kind).toBe("full");
      expect((await store.claimKey(keyOf("a"), claim)).kind).toBe("repeated");
      expect((await store.claimKey(keyOf("d", "key_b"), claim)).kind).toBe("first");
    });

    test("forgets idempotency keys that have expired", async () => {
      const store = await createStore();
      for (const name of ["a", "b", "c"]) await store.claimKey(keyOf(name), claim);
      const later = { ...claim, at: 2_000, expiredAt: 1_001 };
      expect((await store.claimKey(keyOf("a"), later)).kind).toBe("first");
      expect((await store.claimKey(keyOf("d"), later)).kind).toBe("first");
    });

    test("gives an expired key to a new claim although hundreds of others have expired, too", async () => {
      const store = await createStore();
      const names = Array.from({ length: 250 }, (_, at) => `${at}`.padStart(3, "0"));
      for (const name of names) await store.claimKey(keyOf(name), { ...claim, maxNames: 1_000 });
      const later = { ...claim, at: 2_000, expiredAt: 1_001 };
      expect((await store.claimKey(keyOf("249"), later)).kind).toBe("first");
    });

    test("keeps the keys that have not expired", async () => {
      const store = await createStore();
      await store.claimKey(keyOf("a"), claim);
      const later = { ...claim, at: 2_000, expiredAt: 1_000 };
      expect((await store.claimKey(keyOf("b"), later)).kind).toBe("first");
      expect((await store.claimKey(keyOf("a"), later)).kind).toBe("repeated");
    });
  });
}
