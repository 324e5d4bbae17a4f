import type { Role } from "./rights.ts";

/** A team that a person joins with an invitation. */
export interface InvitedTeam {
  readonly id: string;
  readonly isLead: boolean;
}

/** An invitation to an organization. Only the link has its secret, which works once. */
export interface InvitationRecord {
  /** `inv_…` */
  readonly id: string;
  readonly organizationId: string;
  readonly role: Role;
  readonly teams: readonly InvitedTeam[];
  /** The only e-mail address, in lower case, whose owner may accept; null for anyone who has the link. */
  readonly email: string | null;
  /** SHA-256 of the secret, hex. */
  readonly hash: string;
  /** The user who has invited; null for the operator and for a service key. */
  readonly createdBy: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** When it was accepted or withdrawn; null if it was neither. */
  readonly endedAt: number | null;
  /** The user who has accepted; null if none has. */
  readonly userId: string | null;
}

export const INVITATION_STATES = ["open", "accepted", "withdrawn", "expired"] as const;
export type InvitationState = (typeof INVITATION_STATES)[number];

/** Returns the state of an invitation at a time, in milliseconds since the epoch. */
export function stateOfInvitation(
  { endedAt, userId, expiresAt }: Pick<InvitationRecord, "endedAt" | "userId" | "expiresAt">,
  now: number,
): InvitationState {
  if (endedAt !== null) return userId === null ? "withdrawn" : "accepted";
  return expiresAt > now ? "open" : "expired";
}
