import type { AccountStore } from "./account-store.ts";
import type { AccountRecord, MemberRecord } from "./records.ts";
import { remember } from "./remembered.ts";

/** Finds accounts and memberships, from memory on the hot path. */
export interface AccountCache {
  account(id: string): AccountRecord | null | Promise<AccountRecord | null>;
  member(organizationId: string, userId: string): MemberRecord | null | Promise<MemberRecord | null>;
  /** Forgets what it remembers, if anything has changed in the store since it last looked. */
  refresh(): Promise<void>;
  /** Forgets at once; called where this process changes something. */
  forget(): void;
}

/** A ring over a store. */
export function createAccountCache(store: AccountStore): AccountCache {
  const accounts = remember((id) => store.findAccount(id));
  const members = remember((id) => {
    const [organizationId = "", userId = ""] = id.split("/");
    return store.findMember(organizationId, userId);
  });
  let revision = -1;
  const forget = (): void => {
    accounts.forget();
    members.forget();
  };
  return {
    account: (id) => accounts.get(id),
    member: (organizationId, userId) => members.get(`${organizationId}/${userId}`),
    async refresh() {
      const current = await store.accountRevision();
      if (current !== revision) forget();
      revision = current;
    },
    forget,
  };
}
