import type { AccountRecord, MemberRecord } from "../records/records.ts";
import type { ChangedRows } from "./follow-changes.ts";
import type { RevokedKeys } from "./team-store.ts";

/** The outcome of a change that must not leave an organization without an owner. Owners whose account is closed do not count. */
export type OwnerVerdict = "done" | "unknown" | "last_owner";

/** The end of a membership. */
export interface MemberEnd {
  readonly organizationId: string;
  readonly userId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The outcome of removing a member, and the keys that were revoked with the membership. */
export interface MemberRemoval extends RevokedKeys {
  readonly verdict: OwnerVerdict;
}

/** The outcome of writing an account whose e-mail or external id another account may have. */
export type UniqueVerdict = "done" | "email_taken" | "external_id_taken";

/** Selects accounts. Absent fields do not restrict the result. */
export interface AccountQuery {
  readonly kind?: AccountRecord["kind"] | undefined;
  /** In lower case. */
  readonly email?: string | undefined;
  readonly externalId?: string | undefined;
  /** Only accounts with this name, e-mail or external id. Names and e-mails ignore the case of ASCII letters. */
  readonly alias?: string | undefined;
  /** Only accounts whose name, e-mail, external id or id contains this text. The case of ASCII letters does not matter. */
  readonly search?: string | undefined;
  /** Only accounts after this id in the order of the list. */
  readonly afterId?: string | null | undefined;
  readonly limit: number;
}

/** A page of the members of an organization. */
export interface MemberQuery {
  readonly organizationId: string;
  /** Only members whose name, e-mail or id contains this text. The case of ASCII letters does not matter. */
  readonly search?: string | undefined;
  /** Only members who are not in this team. */
  readonly outsideTeamId?: string | undefined;
  readonly afterUserId: string | null;
  readonly limit: number;
}

/** Stores accounts and memberships. Several processes may share one. */
export interface AccountStore {
  /** Inserts an account, and in the same transaction the first owner of an organization. Inserts nothing unless the verdict is `done`. */
  insertAccount(account: AccountRecord, owner?: MemberRecord): Promise<UniqueVerdict>;
  /**
   * Replaces an account by the result of `change`, in one transaction. The verdict is `last_owner` if the change would close a user who is
   * the only owner of an organization, and `unknown` if there is no such account. Changes nothing unless the verdict is `done`.
   */
  changeAccount(
    id: string,
    change: (account: AccountRecord) => AccountRecord,
  ): Promise<{ readonly verdict: OwnerVerdict | UniqueVerdict; readonly account: AccountRecord | null }>;
  findAccount(id: string): Promise<AccountRecord | null>;
  /** Returns the names of accounts by their ids. Ids without an account are left out. */
  findAccountNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns those of the ids whose accounts are closed. */
  findClosed(ids: readonly string[]): Promise<readonly string[]>;
  /** Returns accounts, newest first. */
  listAccounts(query: AccountQuery): Promise<readonly AccountRecord[]>;
  /** Inserts a member, or replaces the role and limit of an existing one. */
  putMember(member: MemberRecord): Promise<Exclude<OwnerVerdict, "unknown">>;
  /**
   * Removes a member, also from the organization's teams, and revokes the member's keys of the organization in the same transaction: they
   * must not be valid again when the user joins again. The verdict is `unknown` if there is no such member.
   */
  removeMember(end: MemberEnd): Promise<MemberRemoval>;
  findMember(organizationId: string, userId: string): Promise<MemberRecord | null>;
  /** Returns members in the order of their user ids, after the id `afterUserId`. */
  listMembers(query: MemberQuery): Promise<readonly MemberRecord[]>;
  /** Returns the memberships of a user. */
  listMemberships(userId: string): Promise<readonly MemberRecord[]>;
  /** Returns a number that rises with every change of an account or a member by any process. */
  accountRevision(): Promise<number>;
  /**
   * Returns the changes since the cursor of an earlier call (`followChanges`): ids of accounts, also if only their budgets have changed,
   * and `organization/user` for memberships. Absent in a store that does not record changes.
   */
  listChangedAccounts?(cursor: string | null): Promise<ChangedRows>;
}
