import { WeakPairs } from "../../../base/collections/weak-pairs.ts";
import type { StoreHealth } from "../../../base/failures/store-health.ts";
import type { AccountPrincipal } from "../records/principal.ts";
import type { ActingMember, KeyRecord, SpendingAccount } from "../records/records.ts";
import type { AccountStore } from "../stores/account-store.ts";
import type { BudgetStore } from "../stores/budget-store.ts";
import { followChanges } from "../stores/follow-changes.ts";
import { memoize } from "../stores/memoize.ts";
import type { TeamStore } from "../stores/team-store.ts";

/** Accounts with their budgets and teams, and memberships, cached in memory for the hot path. Unknown ids are cached as well. */
export interface AccountCache {
  /**
   * Returns an account; null if it does not exist. Like `member`, rejects with a `StoreError` if the account is not in memory while the
   * store is unavailable.
   */
  account(id: string): Promise<SpendingAccount | null>;
  member(organizationId: string, userId: string): Promise<ActingMember | null>;
  /**
   * Returns the principal of records in memory. Returns the same object as long as the records are the same, so that derived values can be
   * memoized with it.
   */
  principalOf(account: SpendingAccount, key: KeyRecord, member: ActingMember | null): AccountPrincipal;
  /** Returns an account in memory, possibly outdated; undefined if it is not in memory. */
  peek(id: string): SpendingAccount | undefined;
  /** Reads accounts and memberships again if a process has changed any of them since the last call. */
  refresh(): Promise<void>;
  /** Reads an account again. Call it after this process has created or changed one, or one of its budgets. */
  changed(id: string): void;
  /** Reads a membership again. Call it after this process has added, changed or removed one. */
  memberChanged(organizationId: string, userId: string): void;
}

/** The stores that the cache reads. */
interface CachedStores {
  readonly accounts: Pick<
    AccountStore,
    "findAccount" | "findMember" | "accountRevision" | "listChangedAccounts"
  >;
  readonly budgets: Pick<BudgetStore, "listBudgets">;
  readonly teams: Pick<TeamStore, "listTeams" | "listTeamsOfUser">;
}

/** Returns a cache over stores. */
export function createAccountCache(
  { accounts: store, budgets, teams }: CachedStores,
  health: StoreHealth,
): AccountCache {
  const accounts = memoize(async (id): Promise<SpendingAccount | null> => {
    const account = await store.findAccount(id);
    if (account === null) return null;
    const own = await budgets.listBudgets(id);
    const groups = account.kind === "organization" ? await teams.listTeams(id) : [];
    return {
      ...account,
      ...(own.length === 0 ? {} : { budgets: own }),
      ...(groups.length === 0 ? {} : { teams: new Map(groups.map((team) => [team.id, team])) }),
    };
  }, health);
  const members = memoize(async (id): Promise<ActingMember | null> => {
    const [organizationId = "", userId = ""] = id.split("/");
    const member = await store.findMember(organizationId, userId);
    if (member === null) return null;
    const own = await teams.listTeamsOfUser(userId, organizationId);
    return own.length === 0 ? member : { ...member, teams: own };
  }, health);
  const principals = new WeakPairs<SpendingAccount, KeyRecord, AccountPrincipal>();
  return {
    account: accounts.get,
    principalOf(account, key, member) {
      const before = principals.get(account, key);
      if (before?.member === member) return before;
      const team = key.teamId === null ? null : (account.teams?.get(key.teamId) ?? null);
      const principal: AccountPrincipal = { kind: "key", key, account, member, team };
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
