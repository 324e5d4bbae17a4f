import { describe, expect, test } from "bun:test";
import type { AuditQuery, AuditStore } from "../../../src/core/audit/audit-store.ts";
import { verifyAudit } from "../../../src/core/audit/verify-audit.ts";
import type { CreateStore } from "./create-store.ts";
import { auditDraftOf } from "./samples.ts";

const targetsOf = (entries: readonly { readonly target: string | null }[]) =>
  entries.map(({ target }) => target);

/** The contract of an `AuditStore`. */
export function testAuditStore(createStore: CreateStore<AuditStore>): void {
  describe("an audit store", () => {
    test("returns an entry with every field as it was appended, chained to the one before it", async () => {
      const store = await createStore();
      const first = await store.appendAudit(auditDraftOf("user_1"));
      const second = await store.appendAudit(auditDraftOf("user_2", { keyId: null, requestId: null }));
      expect(first).toMatchObject({ ...auditDraftOf("user_1"), place: 1 });
      expect(second).toMatchObject({ place: 2, previousHash: first.hash });
      expect(await store.readAudit(0, 10)).toEqual([first, second]);
    });

    test("verifies after entries about what a client has named with control characters", async () => {
      const store = await createStore();
      await store.appendAudit(auditDraftOf("a\0b", { changes: { name: "a\0b" } }));
      const begun = await store.beginChange(auditDraftOf("c\0"), "gateway_a");
      await store.commitChange(begun, [auditDraftOf("c\0", { changes: { name: "\u0001" } })]);
      expect(await verifyAudit(store)).toMatchObject({ entries: 2, flaw: null });
    });

    test("holds one chain when two connections append by turns", async () => {
      const stores = [await createStore(), await createStore()] as const;
      for (let i = 0; i < 10; i++) await stores[i % 2 === 0 ? 0 : 1].appendAudit(auditDraftOf(`user_${i}`));
      expect(await verifyAudit(stores[0])).toMatchObject({ entries: 10, flaw: null });
    });

    test("holds one chain without a gap when three connections append and commit at the same time", async () => {
      const stores = [await createStore(), await createStore(), await createStore()];
      const begun = await Promise.all(
        stores.map((store, index) => store.beginChange(auditDraftOf(`begun_${index}`), `gateway_${index}`)),
      );
      await Promise.all(
        stores.flatMap((store, index) => [
          ...Array.from({ length: 10 }, (_, i) => store.appendAudit(auditDraftOf(`user_${index}_${i}`))),
          store.commitChange(begun[index] as number, [
            auditDraftOf(`key_${index}`),
            auditDraftOf(`org_${index}`),
          ]),
        ]),
      );
      const log = stores[0] as AuditStore;
      expect(await verifyAudit(log)).toMatchObject({ entries: 36, flaw: null });
      expect(new Set(targetsOf(await log.readAudit(0, 100))).size).toBe(36);
    });

    test("lists entries newest first, of all accounts or of one, page by page", async () => {
      const store = await createStore();
      for (let i = 1; i <= 3; i++) await store.appendAudit(auditDraftOf(`user_${i}`));
      await store.appendAudit(auditDraftOf("org_a", { accountId: "org_a" }));
      const all = await store.listAudit({ limit: 2 });
      expect(targetsOf(all)).toEqual(["org_a", "user_3"]);
      const rest = await store.listAudit({ after: all[1]?.place ?? 0, limit: 9 });
      expect(targetsOf(rest)).toEqual(["user_2", "user_1"]);
      expect(targetsOf(await store.listAudit({ accountId: "org_a", limit: 9 }))).toEqual(["org_a"]);
    });

    test("lists entries of a time, an actor, actions and a target, and each alone", async () => {
      const store = await createStore();
      const entries = [
        auditDraftOf("key_1", { at: 10, action: "POST /keys", userId: "user_a", keyId: "key_a" }),
        auditDraftOf("key_1", { at: 20, action: "PATCH /keys", userId: "user_b", keyId: "key_b" }),
        auditDraftOf("key_2", { at: 30, action: "gateway keys create", userId: null, keyId: null }),
        auditDraftOf("org_1", { at: 40, action: "PATCH /orgs", userId: "user_a", keyId: "key_a" }),
      ];
      for (const entry of entries) await store.appendAudit(entry);
      const list = async (query: Partial<AuditQuery>) =>
        (await store.listAudit({ limit: 9, ...query })).map(({ place }) => place);
      expect(await list({ from: 20, to: 40 })).toEqual([3, 2]);
      expect(await list({ actor: "user_a" })).toEqual([4, 1]);
      expect(await list({ actor: "key_b" })).toEqual([2]);
      expect(await list({ actor: null })).toEqual([3]);
      expect(await list({ target: "key_1" })).toEqual([2, 1]);
      expect(await list({ actions: ["POST /keys", "gateway keys create", "POST /keys"] })).toEqual([3, 1]);
      expect(await list({ actions: ["POST /keys", "PATCH /keys"], target: "key_1", limit: 1 })).toEqual([2]);
      expect(await list({ actor: "user_a", after: 4 })).toEqual([1]);
      expect(await list({ actor: "user_a", target: "key_2" })).toEqual([]);
    });

    test("lists an entry that was appended late at the time of its change, on one page of several", async () => {
      const store = await createStore();
      for (const [target, at] of [
        ["a", 10],
        ["b", 30],
        ["late", 20],
      ] as const)
        await store.appendAudit(auditDraftOf(target, { at }));
      const seen: (string | null)[] = [];
      let after: number | undefined;
      for (let page = 0; page < 3; page++) {
        const [entry] = await store.listAudit({ limit: 1, ...(after === undefined ? {} : { after }) });
        seen.push(entry?.target ?? null);
        after = entry?.place;
      }
      expect(seen).toEqual(["b", "late", "a"]);
      expect(await store.listAudit({ limit: 1, ...(after === undefined ? {} : { after }) })).toEqual([]);
    });

    test("records a committed change and not an aborted one", async () => {
      const store = await createStore();
      const committed = await store.beginChange(auditDraftOf("user_1"), "gateway_a");
      const aborted = await store.beginChange(auditDraftOf("user_2"), "gateway_a");
      await store.commitChange(committed, [auditDraftOf("user_1"), auditDraftOf("key_1")]);
      await store.abortChange(aborted);
      expect(await store.settleChanges("gateway_a")).toBe(0);
      expect(targetsOf(await store.readAudit(0, 10))).toEqual(["user_1", "key_1"]);
    });

    test("records a change that was neither committed nor aborted with an unknown outcome", async () => {
      await (await createStore()).beginChange(auditDraftOf("user_1"), "gateway_a");
      const store = await createStore();
      expect(await store.settleChanges("gateway_a")).toBe(1);
      expect(await store.settleChanges("gateway_a")).toBe(0);
      const [entry] = await store.readAudit(0, 10);
      expect(entry?.changes).toEqual({ ...auditDraftOf("user_1").changes, "(outcome)": "unknown" });
    });
  });
}
