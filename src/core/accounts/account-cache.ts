import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { StoreHealth } from "../../base/store-health.ts";
import type { AccountStore } from "./account-store.ts";
import { memoize } from "./memoize.ts";
import type { AccountRecord, MemberRecord } from "./records.ts";

/** Accounts and memberships, cached in memory for the hot path, also those that do not exist. */
export interface AccountCache {
  /**
   * A promise, as of `member`, unless the account is in memory. Rejects with a `StoreError` for what is not in memory while the store
   * is unavailable.
   */
  account(id: string): MaybePromise<AccountRecord | null>;
  member(organizationId: string, userId: string): MaybePromise<MemberRecord | null>;
  /** Reads accounts and memberships again if a process has changed any of them since the last call. */
  refresh(): Promise<void>;
  /** Reads an account again. Call it after this process has created or changed one. */
  changed(id: string): void;
  /** Reads a membership again. Call it after this process has added, changed or removed one. */
  memberChanged(organizationId: string, userId: string): void;
}

/** Returns a cache over a store. */
export function createAccountCache(
  store: Pick<AccountStore, "findAccount" | "findMember" | "accountRevision">,
  health: StoreHealth,
): AccountCache {
  const accounts = memoize((id) => store.findAccount(id), health);
  const members = memoize((id) => {
    const [organizationId = "", userId = ""] = id.split("/");
    return store.findMember(organizationId, userId);
  }, health);
  let revision = -1;
  return {
    account: accounts.get,
    member: (organizationId, userId) => members.get(`${organizationId}/${userId}`),
    async refresh() {
      const current = await store.accountRevision();
      if (current !== revision) {
        accounts.expire();
        members.expire();
      }
      revision = current;
    },
    changed: accounts.forget,
    memberChanged: (organizationId, userId) => members.forget(`${organizationId}/${userId}`),
  };
}
