import type { InvitationRecord } from "../records/invitation-records.ts";
import type { AccountRecord, KeyRecord, MemberRecord, TeamMemberRecord } from "../records/records.ts";

/** The maximum number of open invitations of an organization. */
export const MAX_OPEN_INVITATIONS = 200;

/** A page of the invitations of an organization. */
export interface InvitationQuery {
  readonly organizationId: string;
  /** Only those of a user; null for all. */
  readonly createdBy: string | null;
  /** Only invitations after this id in the order of the list. */
  readonly afterId: string | null;
  readonly limit: number;
}

/** Who accepts an invitation, and what is stored with it. */
export interface InvitationAcceptance {
  readonly id: string;
  readonly userId: string;
  /** The user, if the user does not exist yet. */
  readonly user: AccountRecord | null;
  /** A key of the organization for the user; null for none. */
  readonly key: KeyRecord | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Why an invitation was not accepted: it is no longer open; the organization is closed; a team is deleted, or has too many members; another
 * user has the e-mail of the new user; or the user is in the organization and in all teams already.
 */
export type InvitationProblem =
  | "not_open"
  | "organization_closed"
  | "team_deleted"
  | "team_full"
  | "email_taken"
  | "member";

/** The memberships that an invitation has made. */
export interface AcceptedMemberships {
  /** Null for a user who was a member of the organization before. That membership stays as it is. */
  readonly member: MemberRecord | null;
  /** The teams that the user has joined. */
  readonly teams: readonly TeamMemberRecord[];
}

/** Stores invitations to organizations. Several processes may share one. Times are milliseconds since the epoch. */
export interface InvitationStore {
  /** Inserts an invitation. Returns false, and inserts nothing, if the organization has `MAX_OPEN_INVITATIONS` open ones. */
  insertInvitation(invitation: InvitationRecord): Promise<boolean>;
  findInvitation(id: string): Promise<InvitationRecord | null>;
  /** Returns the invitation whose secret has a SHA-256. */
  findInvitationByHash(hash: string): Promise<InvitationRecord | null>;
  /** Returns invitations, newest first. */
  listInvitations(query: InvitationQuery): Promise<readonly InvitationRecord[]>;
  /** Ends an open invitation. Returns false if it is not open. */
  withdrawInvitation(id: string, at: number): Promise<boolean>;
  /**
   * Ends an open invitation, and makes the user, the memberships and the key in the same transaction. Of several callers at the same time
   * only one succeeds. Changes nothing if it returns a problem.
   */
  acceptInvitation(acceptance: InvitationAcceptance): Promise<AcceptedMemberships | InvitationProblem>;
  /** Deletes up to `limit` invitations that were accepted or withdrawn, or have expired, before a time. Returns how many. */
  deleteEndedInvitations(before: number, limit: number): Promise<number>;
}
