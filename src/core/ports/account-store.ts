import type { AccountRecord, MemberRecord } from "../accounts/records.ts";

/** Where accounts and memberships are kept. */
export interface AccountStore {
  insertAccount(account: AccountRecord): Promise<void>;
  /** Replaces an account's own facts; false when there is none with that id. */
  updateAccount(account: AccountRecord): Promise<boolean>;
  findAccount(id: string): Promise<AccountRecord | null>;
  /** Accounts of a kind, newest first, behind an id of the page before. */
  listAccounts(
    kind: AccountRecord["kind"],
    afterId: string | null,
    limit: number,
  ): Promise<readonly AccountRecord[]>;
  /** Adds a member or replaces what is known of one. */
  putMember(member: MemberRecord): Promise<void>;
  /** False when there was no such member. */
  removeMember(organizationId: string, userId: string): Promise<boolean>;
  findMember(organizationId: string, userId: string): Promise<MemberRecord | null>;
  listMembers(organizationId: string): Promise<readonly MemberRecord[]>;
  /** Organizations that a user is a member of. */
  listMemberships(userId: string): Promise<readonly MemberRecord[]>;
  /** Rises with every change of an account or a member, whichever process makes it. */
  accountRevision(): Promise<number>;
}
