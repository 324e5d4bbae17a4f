import { describe, expect, test } from "bun:test";
import { DEFAULT_ACCOUNT_ID } from "../../../src/core/accounts/records/records.ts";
import type { AccountStore } from "../../../src/core/accounts/stores/account-store.ts";
import type { CreateStore } from "./create-store.ts";
import { accountOf, memberOf } from "./samples.ts";

const owner = (organizationId: string, userId: string) => memberOf(organizationId, userId, { role: "owner" });
const close = (closedAt: number) => (account: ReturnType<typeof accountOf>) => ({ ...account, closedAt });

const remove = async (store: AccountStore, organizationId: string, userId: string) =>
  (await store.removeMember({ organizationId, userId, at: 5 })).verdict;

/** The contract of an `AccountStore`. */
export function testAccountStore(createStore: CreateStore<AccountStore>): void {
  describe("an account store", () => {
    test("has the operator's account, without a bound on its overdraft, from the beginning", async () => {
      expect(await (await createStore()).findAccount(DEFAULT_ACCOUNT_ID)).toMatchObject({
        kind: "user",
        overdraft: null,
      });
    });

    test("returns an account with every field as it was inserted", async () => {
      const store = await createStore();
      const account = accountOf("org_a", {
        monthlyLimit: 5,
        email: "office@example.com",
        externalId: "C 4711",
        policy: { ...accountOf("org_a").policy, allowedModels: ["author/*"], zeroRetention: true },
        rateLimit: { requestsPerMinute: 1, tokensPerMinute: null, concurrent: 3 },
      });
      await store.insertAccount(account, owner("org_a", "user_a"));
      expect(await store.findAccount("org_a")).toEqual(account);
      expect(await store.findMember("org_a", "user_a")).toEqual(owner("org_a", "user_a"));
      expect(await store.findAccount("org_b")).toBeNull();
    });

    test("lists the accounts of one kind, newest first, page by page", async () => {
      const store = await createStore();
      for (const id of ["org_1", "org_2", "org_3"]) await store.insertAccount(accountOf(id));
      await store.insertAccount(accountOf("user_z"));
      const first = await store.listAccounts({ kind: "organization", limit: 2 });
      expect(first.map(({ id }) => id)).toEqual(["org_3", "org_2"]);
      const second = await store.listAccounts({ kind: "organization", afterId: "org_2", limit: 2 });
      expect(second.map(({ id }) => id)).toEqual(["org_1"]);
    });

    test("lists only accounts with an e-mail, an external id, or a name, of which the case does not matter", async () => {
      const store = await createStore();
      await store.insertAccount(
        accountOf("user_1", { name: "Ada", email: "ada@example.com", externalId: "C-1" }),
      );
      await store.insertAccount(accountOf("user_2", { name: "C-1", email: "ada2@example.com" }));
      await store.insertAccount(accountOf("org_3", { name: "ADA", externalId: "c-1" }));
      const ids = async (query: Partial<Parameters<AccountStore["listAccounts"]>[0]>) =>
        (await store.listAccounts({ limit: 10, ...query })).map(({ id }) => id);
      expect(await ids({ kind: "user", email: "ada@example.com" })).toEqual(["user_1"]);
      expect(await ids({ kind: "organization", email: "ada@example.com" })).toEqual([]);
      expect(await ids({ externalId: "C-1" })).toEqual(["user_1"]);
      expect(await ids({ alias: "ada" })).toEqual(["user_1", "org_3"]);
      expect(await ids({ alias: "Ada@Example.com" })).toEqual(["user_1"]);
      expect(await ids({ alias: "C-1" })).toEqual(["user_2", "user_1"]);
      expect(await ids({ alias: "ada", afterId: "user_1", limit: 1 })).toEqual(["org_3"]);
    });

    test("rejects the e-mail and the external id of another account, and writes nothing then", async () => {
      const store = await createStore();
      const ada = accountOf("user_a", { email: "ada@example.com", externalId: "1" });
      expect(await store.insertAccount(ada)).toBe("done");
      const twin = accountOf("user_b", { email: "ada@example.com" });
      expect(await store.insertAccount(twin)).toBe("email_taken");
      const org = accountOf("org_c", { externalId: "1" });
      expect(await store.insertAccount(org, owner("org_c", "user_a"))).toBe("external_id_taken");
      expect([await store.findAccount("user_b"), await store.findAccount("org_c")]).toEqual([null, null]);
      expect(await store.listMemberships("user_a")).toEqual([]);
      for (const id of ["user_d", "user_e"]) await store.insertAccount(accountOf(id));
      const takes = { email: "ada@example.com", name: "new" };
      expect((await store.changeAccount("user_d", (before) => ({ ...before, ...takes }))).verdict).toBe(
        "email_taken",
      );
      const idTaken = await store.changeAccount("user_d", (before) => ({ ...before, externalId: "1" }));
      expect(idTaken).toEqual({ verdict: "external_id_taken", account: accountOf("user_d") });
      expect(await store.findAccount("user_d")).toEqual(accountOf("user_d"));
      const renamed = await store.changeAccount("user_a", (before) => ({ ...before, name: "Ada L." }));
      expect(renamed.verdict).toBe("done");
      expect(await store.findAccount("user_a")).toEqual({ ...ada, name: "Ada L." });
    });

    test("gives an e-mail and an external id that an account has given up to another one", async () => {
      const store = await createStore();
      await store.insertAccount(accountOf("user_a", { email: "ada@example.com", externalId: "1" }));
      await store.changeAccount("user_a", (before) => ({ ...before, email: null, externalId: null }));
      const next = accountOf("user_b", { email: "ada@example.com", externalId: "1" });
      expect(await store.insertAccount(next)).toBe("done");
    });

    test("returns the names of accounts by their ids, and leaves out ids without an account", async () => {
      const store = await createStore();
      for (const id of ["user_a", "org_a"]) await store.insertAccount(accountOf(id));
      const names = await store.findAccountNames(["org_a", "user_b", "user_a"]);
      expect(new Map(names)).toEqual(
        new Map([
          ["org_a", "name of org_a"],
          ["user_a", "name of user_a"],
        ]),
      );
      expect(await store.findAccountNames([])).toEqual(new Map());
    });

    test("changes an account and returns it, and reports an id that does not exist as unknown", async () => {
      const store = await createStore();
      await store.insertAccount(accountOf("user_a"));
      const changed = await store.changeAccount("user_a", (account) => ({
        ...account,
        name: "new",
        overdraft: 7,
      }));
      expect(changed).toEqual({
        verdict: "done",
        account: accountOf("user_a", { name: "new", overdraft: 7 }),
      });
      expect(await store.findAccount("user_a")).toEqual(accountOf("user_a", { name: "new", overdraft: 7 }));
      expect(await store.changeAccount("user_b", (account) => account)).toEqual({
        verdict: "unknown",
        account: null,
      });
    });

    test("lists the members of an organization by user id, page by page, and the organizations of a user", async () => {
      const store = await createStore();
      for (const id of ["org_1", "org_2"]) await store.insertAccount(accountOf(id), owner(id, "user_a"));
      for (const id of ["user_c", "user_b"]) await store.putMember(memberOf("org_1", id, { dailyLimit: 9 }));
      const first = await store.listMembers({ organizationId: "org_1", afterUserId: null, limit: 2 });
      expect(first).toEqual([owner("org_1", "user_a"), memberOf("org_1", "user_b", { dailyLimit: 9 })]);
      const rest = await store.listMembers({ organizationId: "org_1", afterUserId: "user_b", limit: 2 });
      expect(rest.map(({ userId }) => userId)).toEqual(["user_c"]);
      await store.insertAccount(accountOf("user_c", { name: "Carla Weiss" }));
      const found = await store.listMembers({
        organizationId: "org_1",
        search: "weiss",
        afterUserId: null,
        limit: 2,
      });
      expect(found.map(({ userId }) => userId)).toEqual(["user_c"]);
      const memberships = await store.listMemberships("user_a");
      expect(memberships.map(({ organizationId }) => organizationId)).toEqual(["org_1", "org_2"]);
    });

    test("does not remove, demote or close the only owner of an organization", async () => {
      const store = await createStore();
      await store.insertAccount(accountOf("user_a"));
      await store.insertAccount(accountOf("org_a"), owner("org_a", "user_a"));
      expect(await remove(store, "org_a", "user_a")).toBe("last_owner");
      expect(await store.putMember(memberOf("org_a", "user_a"))).toBe("last_owner");
      expect((await store.changeAccount("user_a", close(5))).verdict).toBe("last_owner");
      expect((await store.findAccount("user_a"))?.closedAt).toBeNull();
      expect(await store.findMember("org_a", "user_a")).toEqual(owner("org_a", "user_a"));
    });

    test("removes, demotes or closes an owner when another owner with an open account remains", async () => {
      const store = await createStore();
      for (const id of ["user_a", "user_b", "user_c"]) await store.insertAccount(accountOf(id));
      await store.insertAccount(accountOf("org_a"), owner("org_a", "user_a"));
      expect(await store.putMember(owner("org_a", "user_b"))).toBe("done");
      expect(await store.putMember(owner("org_a", "user_c"))).toBe("done");
      expect((await store.changeAccount("user_a", close(5))).verdict).toBe("done");
      expect(await store.putMember(memberOf("org_a", "user_b"))).toBe("done");
      expect(await remove(store, "org_a", "user_c")).toBe("last_owner");
    });

    test.each<[string, (store: AccountStore, userId: string) => Promise<unknown>]>([
      ["removed", (store, userId) => remove(store, "org_a", userId)],
      ["demoted", (store, userId) => store.putMember(memberOf("org_a", userId))],
      ["closed", async (store, userId) => (await store.changeAccount(userId, close(5))).verdict],
    ])("keeps one of two owners who are %s by two connections at the same time", async (_, remove) => {
      const [here, there] = [await createStore(), await createStore()];
      for (const id of ["user_a", "user_b"]) await here.insertAccount(accountOf(id));
      await here.insertAccount(accountOf("org_a"), owner("org_a", "user_a"));
      await here.putMember(owner("org_a", "user_b"));
      const verdicts = await Promise.all([remove(here, "user_a"), remove(there, "user_b")]);
      expect(verdicts.sort()).toEqual(["done", "last_owner"]);
    });

    test("lets the only owner close their account once the organization itself is closed", async () => {
      const store = await createStore();
      await store.insertAccount(accountOf("user_a"));
      await store.insertAccount(accountOf("org_a"), owner("org_a", "user_a"));
      await store.changeAccount("org_a", close(4));
      expect((await store.changeAccount("user_a", close(5))).verdict).toBe("done");
    });

    test("reports the removal of a user who is not a member as unknown", async () => {
      const store = await createStore();
      await store.insertAccount(accountOf("org_a"), owner("org_a", "user_a"));
      expect(await remove(store, "org_a", "user_b")).toBe("unknown");
    });

    test("finds those of some accounts that are closed", async () => {
      const store = await createStore();
      for (const id of ["org_a", "org_b", "org_c"]) await store.insertAccount(accountOf(id));
      for (const id of ["org_c", "org_a"])
        await store.changeAccount(id, (account) => ({ ...account, closedAt: 5 }));
      expect(await store.findClosed(["org_b", "org_c", "org_d", "org_a"])).toEqual(["org_a", "org_c"]);
      expect([await store.findClosed(["org_b"]), await store.findClosed([])]).toEqual([[], []]);
      await store.changeAccount("org_a", (account) => ({ ...account, closedAt: null }));
      expect(await store.findClosed(["org_a"])).toEqual([]);
    });

    test("raises the revision with every change, also for other connections, and not without one", async () => {
      const [here, there] = [await createStore(), await createStore()];
      let before = await there.accountRevision();
      const expectRise = async () => {
        const now = await there.accountRevision();
        expect(now).toBeGreaterThan(before);
        before = now;
      };
      await here.insertAccount(accountOf("org_a"), owner("org_a", "user_a"));
      await expectRise();
      await here.changeAccount("org_a", (account) => ({ ...account, name: "new" }));
      await expectRise();
      await here.putMember(memberOf("org_a", "user_b"));
      await expectRise();
      await remove(here, "org_a", "user_b");
      await expectRise();
      await remove(here, "org_a", "user_b");
      await remove(here, "org_a", "user_a");
      await here.findAccount("org_a");
      expect(await there.accountRevision()).toBe(before);
    });
  });
}
