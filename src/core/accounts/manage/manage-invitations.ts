import { fail } from "../../../base/failures/errors.ts";
import { sha256 } from "../../../base/secrets/hash.ts";
import type { Random } from "../../../base/secrets/random.ts";
import { createSecretText } from "../../../base/secrets/secret-text.ts";
import { HOUR_MS } from "../../../base/time/time.ts";
import { type InvitationRecord, type InvitedTeam, stateOfInvitation } from "../records/invitation-records.ts";
import type { AccountRecord, KeyRecord, TeamRecord } from "../records/records.ts";
import { type Role, rightOver, roleHas } from "../records/rights.ts";
import {
  type AcceptedMemberships,
  type InvitationProblem,
  MAX_OPEN_INVITATIONS,
} from "../stores/invitation-store.ts";
import { type AccountStores, findAccount } from "./manage-accounts.ts";

/** An invitation as it is wanted. */
interface NewInvitation {
  readonly organizationId: string;
  readonly role: Role;
  readonly teams: readonly InvitedTeam[];
  readonly email: string | null;
  readonly expiresInHours: number;
  /** The user who invites; null for the operator and for a service key. */
  readonly createdBy: string | null;
}

/** A new invitation and its secret, which is not stored. */
interface CreatedInvitation {
  readonly secret: string;
  readonly invitation: InvitationRecord;
}

/**
 * Creates an invitation to an organization.
 * @throws GatewayError `not_found` for an unknown organization; `invalid_request` for a team that it does not have; `conflict` for a closed
 * organization, and if there are too many open invitations.
 */
export async function createInvitation(
  stores: AccountStores & { readonly random: Random },
  { organizationId, teams, expiresInHours, ...wanted }: NewInvitation,
): Promise<CreatedInvitation> {
  const organization = await findAccount(stores.accounts, "organization", organizationId);
  if (organization.closedAt !== null) fail("conflict", "The organization is closed. Reopen it first.");
  await requireTeams(stores, organizationId, teams);
  const secret = createSecretText(stores.random);
  const createdAt = stores.clock.now();
  const invitation: InvitationRecord = {
    ...wanted,
    id: stores.ids.next("inv"),
    organizationId,
    teams,
    hash: sha256(secret, "hex"),
    createdAt,
    expiresAt: createdAt + expiresInHours * HOUR_MS,
    endedAt: null,
    userId: null,
  };
  if (!(await stores.invitations.insertInvitation(invitation)))
    fail(
      "conflict",
      `The organization already has ${MAX_OPEN_INVITATIONS} open invitations. Withdraw one first.`,
    );
  return { secret, invitation };
}

/** @throws GatewayError `invalid_request` for a team that the organization does not have, or that is named twice. */
async function requireTeams(
  { teams }: AccountStores,
  organizationId: string,
  wanted: readonly InvitedTeam[],
): Promise<void> {
  const known = wanted.length === 0 ? [] : await teams.listTeams(organizationId);
  for (const [at, { id }] of wanted.entries()) {
    const isKnown = known.some((team) => team.id === id);
    if (isKnown && wanted.findIndex((team) => team.id === id) === at) continue;
    const problem = isKnown ? "is named twice" : "must be the id of a team of the organization";
    const field = `teams.${at}.id`;
    fail("invalid_request", `${field} ${problem}.`, { metadata: { field } });
  }
}

/**
 * Returns an invitation of an organization.
 * @throws GatewayError `not_found`.
 */
export async function findInvitation(
  { invitations }: Pick<AccountStores, "invitations">,
  organizationId: string,
  id: string,
): Promise<InvitationRecord> {
  const invitation = await invitations.findInvitation(id);
  if (invitation?.organizationId === organizationId) return invitation;
  return fail("not_found", "This organization has no invitation with that id.");
}

/**
 * Ends an open invitation. Returns it.
 * @throws GatewayError `conflict` if it is not open.
 */
export async function withdrawInvitation(
  { invitations, clock }: AccountStores,
  invitation: InvitationRecord,
): Promise<InvitationRecord> {
  const endedAt = clock.now();
  if (!(await invitations.withdrawInvitation(invitation.id, endedAt)))
    fail(
      "conflict",
      "Only an open invitation can be withdrawn. This one was used, withdrawn, or has expired.",
    );
  return { ...invitation, endedAt };
}

/** An invitation that can be accepted. */
export interface OpenInvitation {
  readonly invitation: InvitationRecord;
  readonly organization: AccountRecord;
  /** Its teams. */
  readonly teams: readonly TeamRecord[];
}

/**
 * Returns the invitation of a link by its secret.
 * @throws GatewayError `not_found` for a secret of no invitation; `conflict` if it can no longer be accepted, with the reason.
 */
export async function findOpenInvitation(stores: AccountStores, secret: string): Promise<OpenInvitation> {
  const invitation = await stores.invitations.findInvitationByHash(sha256(secret, "hex"));
  if (invitation === null)
    return fail(
      "not_found",
      "There is no invitation for this link. Check that the link is complete, or ask for a new invitation.",
      { metadata: { field: "code", reason: "unknown" } },
    );
  const state = stateOfInvitation(invitation, stores.clock.now());
  if (state !== "open") rejectEnded(state);
  const organization = await stores.accounts.findAccount(invitation.organizationId);
  if (organization === null || organization.closedAt !== null) return rejectProblem("organization_closed");
  await requireInviter(stores, invitation);
  const all = await stores.teams.listTeams(organization.id);
  const teams = invitation.teams.map(
    ({ id }) => all.find((team) => team.id === id) ?? rejectProblem("team_deleted"),
  );
  return { invitation, organization, teams };
}

/**
 * Rejects an invitation of a user who could not invite today: who has left the organization, or has lost the right to give the role.
 * Otherwise a link would outlast the rights of its author.
 */
async function requireInviter(stores: AccountStores, invitation: InvitationRecord): Promise<void> {
  const { createdBy } = invitation;
  if (createdBy === null || (await mayInvite(stores, invitation, createdBy))) return;
  fail(
    "conflict",
    "The person who has invited you may no longer do so. Ask the organization for a new invitation.",
    { metadata: { field: "code", reason: "inviter" } },
  );
}

/** Returns whether a user may invite as an invitation does: with a right over its role, or as a lead of all its teams. */
async function mayInvite(
  { accounts, teams }: AccountStores,
  { organizationId, role, teams: invited }: InvitationRecord,
  userId: string,
): Promise<boolean> {
  const member = await accounts.findMember(organizationId, userId);
  if (member === null || (await accounts.findAccount(userId))?.closedAt !== null) return false;
  if (roleHas(member.role, rightOver(role))) return true;
  if (role !== "member" || invited.length === 0) return false;
  const own = await teams.listTeamsOfUser(userId, organizationId);
  const led = new Set(own.filter(({ isLead }) => isLead).map(({ teamId }) => teamId));
  return invited.every(({ id, isLead }) => !isLead && led.has(id));
}

/** Who accepts an invitation. */
interface Acceptance {
  readonly userId: string;
  /** The user, if the user does not exist yet. */
  readonly user: AccountRecord | null;
  /** A key of the organization for the user; null for none. */
  readonly key: KeyRecord | null;
}

/**
 * Accepts an invitation for a user: makes the memberships, and the user and the key if there are any. A membership in the organization that
 * the user has already stays as it is.
 * @throws GatewayError `conflict` if another caller was faster, for a closed user, and for every other reason not to accept.
 */
export async function acceptInvitation(
  stores: AccountStores,
  { invitation }: OpenInvitation,
  acceptance: Acceptance,
): Promise<AcceptedMemberships> {
  const { user, userId } = acceptance;
  if (user === null && (await stores.accounts.findAccount(userId))?.closedAt !== null)
    fail("conflict", "Your user is closed. Ask the operator to reopen it, and open the link again.");
  const at = stores.clock.now();
  const accepted = await stores.invitations.acceptInvitation({ ...acceptance, id: invitation.id, at });
  if (typeof accepted !== "string") return accepted;
  if (accepted !== "not_open") return rejectProblem(accepted);
  const now = await stores.invitations.findInvitation(invitation.id);
  const state = now === null ? "expired" : stateOfInvitation(now, at);
  return rejectEnded(state === "open" ? "expired" : state);
}

const ENDED = {
  accepted:
    "This invitation was already accepted: it works once. If it was you, sign in. Otherwise ask for a new invitation.",
  withdrawn: "This invitation was withdrawn. Ask for a new invitation.",
  expired: "This invitation has expired. Ask for a new invitation.",
} as const;

function rejectEnded(state: keyof typeof ENDED): never {
  return fail("conflict", ENDED[state], { metadata: { field: "code", reason: state } });
}

const PROBLEMS: Readonly<Record<Exclude<InvitationProblem, "not_open">, readonly [string, string]>> = {
  organization_closed: [
    "code",
    "The organization is closed. Ask for a new invitation once it is open again.",
  ],
  team_deleted: ["code", "A team of this invitation no longer exists. Ask for a new invitation."],
  team_full: ["code", "A team of this invitation has too many members. Ask for an invitation without it."],
  email_taken: [
    "email",
    "Another user has the e-mail address of this invitation. Sign in as that user, and open the link again.",
  ],
  member: [
    "code",
    "You are a member of this organization and of these teams already. The link is still valid.",
  ],
};

function rejectProblem(reason: keyof typeof PROBLEMS): never {
  const [field, message] = PROBLEMS[reason];
  return fail("conflict", message, { metadata: { field, reason } });
}
