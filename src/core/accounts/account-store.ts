import type { AccountRecord, MemberRecord } from "./records.ts";

/** What became of a change that may not leave an organization without an owner; one whose account is closed is none. */
export type OwnerVerdict = "done" | "unknown" | "last_owner";

/** Where accounts and memberships are kept. */
export interface AccountStore {
  /** Adds an account; an organization with its first owner, both or neither. */
  insertAccount(account: AccountRecord, owner?: MemberRecord): Promise<void>;
  /**
   * Replaces an account's own facts by what `change` makes of them, with nobody else changing them meanwhile. `last_owner`
   * where it would close a user who alone owns an organization.
   */
  changeAccount(
    id: string,
    change: (account: AccountRecord) => AccountRecord,
  ): Promise<{ readonly verdict: OwnerVerdict; readonly account: AccountRecord | null }>;
  findAccount(id: string): Promise<AccountRecord | null>;
  /** Accounts of a kind, newest first, behind an id of the page before. */
  listAccounts(
    kind: AccountRecord["kind"],
    afterId: string | null,
    limit: number,
  ): Promise<readonly AccountRecord[]>;
  /** Adds a member or replaces what is known of one. */
  putMember(member: MemberRecord): Promise<Exclude<OwnerVerdict, "unknown">>;
  /** `unknown` when there was no such member. */
  removeMember(organizationId: string, userId: string): Promise<OwnerVerdict>;
  findMember(organizationId: string, userId: string): Promise<MemberRecord | null>;
  /** By user id, behind one of the page before. */
  listMembers(
    organizationId: string,
    afterUserId: string | null,
    limit: number,
  ): Promise<readonly MemberRecord[]>;
  /** Organizations that a user is a member of. */
  listMemberships(userId: string): Promise<readonly MemberRecord[]>;
  /** Rises with every change of an account or a member, whichever process makes it. */
  accountRevision(): Promise<number>;
}
