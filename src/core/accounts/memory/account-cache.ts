import { WeakPairs } from "../../../base/collections/weak-pairs.ts";
import type { StoreHealth } from "../../../base/failures/store-health.ts";
import type { AccountPrincipal } from "../records/principal.ts";
import type { KeyRecord, MemberRecord, SpendingAccount } from "../records/records.ts";
import type { AccountStore } from "../stores/account-store.ts";
import type { BudgetStore } from "../stores/budget-store.ts";
import { followChanges } from "../stores/follow-changes.ts";
import { memoize } from "../stores/memoize.ts";

/** Accounts with their budgets, and memberships, cached in memory for the hot path. Unknown ids are cached as well. */
export interface AccountCache {
  /**
   * Returns an account; null if it does not exist. Like `member`, rejects with a `StoreError` if the account is not in memory while the
   * store is unavailable.
   */
  account(id: string): Promise<SpendingAccount | null>;
  member(organizationId: string, userId: string): Promise<MemberRecord | null>;
  /**
   * Returns the principal of records in memory. Returns the same object as long as the records are the same, so that derived values can be
   * memoized with it.
   */
  principalOf(account: SpendingAccount, key: KeyRecord, member: MemberRecord | null): AccountPrincipal;
  /** Returns an account in memory, possibly outdated; undefined if it is not in memory. */
  peek(id: string): SpendingAccount | undefined;
  /** Reads accounts and memberships again if a process has changed any of them since the last call. */
  refresh(): Promise<void>;
  /** Reads an account again. Call it after this process has created or changed one, or one of its budgets. */
  changed(id: string): void;
  /** Reads a membership again. Call it after this process has added, changed or removed one. */
  memberChanged(organizationId: string, userId: string): void;
}

/** Returns a cache over a store. */
export function createAccountCache(
  store: Pick<AccountStore, "findAccount" | "findMember" | "accountRevision" | "listChangedAccounts">,
  health: StoreHealth,
  budgets: Pick<BudgetStore, "listBudgets">,
): AccountCache {
  const accounts = memoize(async (id): Promise<SpendingAccount | null> => {
    const account = await store.findAccount(id);
    const own = account === null ? [] : await budgets.listBudgets(id);
    return account === null || own.length === 0 ? account : { ...account, budgets: own };
  }, health);
  const members = memoize((id) => {
    const [organizationId = "", userId = ""] = id.split("/");
    return store.findMember(organizationId, userId);
  }, health);
  const principals = new WeakPairs<SpendingAccount, KeyRecord, AccountPrincipal>();
  return {
    account: accounts.get,
    principalOf(account, key, member) {
      const before = principals.get(account, key);
      if (before?.member === member) return before;
      const principal: AccountPrincipal = { kind: "key", key, account, member };
      principals.set(account, key, principal);
      return principal;
    },
    peek: accounts.peek,
    member: (organizationId, userId) => members.get(`${organizationId}/${userId}`),
    refresh: followChanges({
      readRevision: () => store.accountRevision(),
      listChanged: store.listChangedAccounts?.bind(store),
      caches: [accounts, members],
    }),
    changed: accounts.forget,
    memberChanged: (organizationId, userId) => members.forget(`${organizationId}/${userId}`),
  };
}
