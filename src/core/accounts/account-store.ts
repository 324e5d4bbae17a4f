import type { AccountRecord, MemberRecord } from "./records.ts";

/** The outcome of a change that must not leave an organization without an owner. Owners whose account is closed do not count. */
export type OwnerVerdict = "done" | "unknown" | "last_owner";

/** Stores accounts and memberships. Several processes may share one. */
export interface AccountStore {
  /** Inserts an account, and in the same transaction the first owner of an organization. */
  insertAccount(account: AccountRecord, owner?: MemberRecord): Promise<void>;
  /**
   * Replaces an account by what `change` returns for it, in one transaction. The verdict is `last_owner` if the change would
   * close a user who is the only owner of an organization, and `unknown` if there is no such account.
   */
  changeAccount(
    id: string,
    change: (account: AccountRecord) => AccountRecord,
  ): Promise<{ readonly verdict: OwnerVerdict; readonly account: AccountRecord | null }>;
  findAccount(id: string): Promise<AccountRecord | null>;
  /** Returns the names of accounts by their ids. Ids without an account are left out. */
  findAccountNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns accounts of a kind, newest first, after the id `afterId`. */
  listAccounts(
    kind: AccountRecord["kind"],
    afterId: string | null,
    limit: number,
  ): Promise<readonly AccountRecord[]>;
  /** Inserts a member, or replaces the role and limit of an existing one. */
  putMember(member: MemberRecord): Promise<Exclude<OwnerVerdict, "unknown">>;
  /** The verdict is `unknown` if there is no such member. */
  removeMember(organizationId: string, userId: string): Promise<OwnerVerdict>;
  findMember(organizationId: string, userId: string): Promise<MemberRecord | null>;
  /** Returns members in the order of their user ids, after the id `afterUserId`. */
  listMembers(
    organizationId: string,
    afterUserId: string | null,
    limit: number,
  ): Promise<readonly MemberRecord[]>;
  /** Returns the memberships of a user. */
  listMemberships(userId: string): Promise<readonly MemberRecord[]>;
  /** Returns a number that rises with every change of an account or a member by any process. */
  accountRevision(): Promise<number>;
}
