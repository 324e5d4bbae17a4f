import type { AccountStore } from "./account-store.ts";
import { memoize } from "./memoize.ts";
import type { AccountRecord, MemberRecord } from "./records.ts";

/** Accounts and memberships, cached in memory for the hot path, also those that do not exist. */
export interface AccountCache {
  account(id: string): Promise<AccountRecord | null>;
  member(organizationId: string, userId: string): Promise<MemberRecord | null>;
  /** Clears the cache if a process has changed an account or a membership since the last call. */
  refresh(): Promise<void>;
  /** Clears the cache. Call it after a change by this process. */
  clear(): void;
}

/** Returns a cache over a store. */
export function createAccountCache(store: AccountStore): AccountCache {
  const accounts = memoize((id) => store.findAccount(id));
  const members = memoize((id) => {
    const [organizationId = "", userId = ""] = id.split("/");
    return store.findMember(organizationId, userId);
  });
  let revision = -1;
  const clear = (): void => {
    accounts.clear();
    members.clear();
  };
  return {
    account: accounts.get,
    member: (organizationId, userId) => members.get(`${organizationId}/${userId}`),
    async refresh() {
      const current = await store.accountRevision();
      if (current !== revision) clear();
      revision = current;
    },
    clear,
  };
}
