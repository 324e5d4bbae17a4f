import { fail } from "../../base/failures/errors.ts";
import { makeAccount } from "../accounts/manage/manage-accounts.ts";
import { acceptInvitation, type OpenInvitation } from "../accounts/manage/manage-invitations.ts";
import { type KeyStores, makeKey } from "../accounts/manage/manage-keys.ts";
import type { AccountCache } from "../accounts/memory/account-cache.ts";
import type { KeyCache } from "../accounts/memory/key-cache.ts";
import type { AccountRecord, KeyRecord } from "../accounts/records/records.ts";
import type { Role } from "../accounts/records/rights.ts";

/** The dependencies of accepting invitations. */
export interface InvitationParts {
  readonly stores: KeyStores;
  readonly keyCache: Pick<KeyCache, "changed">;
  readonly accountCache: Pick<AccountCache, "changed" | "memberChanged">;
}

/** An invitation that a user has accepted, for the audit log. */
export interface AcceptedInvitation {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  /** Null for a user who was a member before, with the role that they keep. */
  readonly role: Role | null;
  /** The teams that the user has joined. */
  readonly teams: Readonly<Record<string, "lead" | "member">>;
}

/** The key of a person who has accepted an invitation, and its secret. Both are null if the person needs none. */
interface GivenKey {
  readonly key: KeyRecord | null;
  readonly secret: string | null;
}

/** The name of the management key with which an invited person signs in. */
const KEY_NAME = "console";

/**
 * Accepts an invitation for a user. With `makesKey`, the user gets a management key of the organization.
 * @throws GatewayError `conflict` if the invitation cannot be accepted.
 */
export async function acceptAsUser(
  parts: InvitationParts,
  open: OpenInvitation,
  { userId, makesKey }: { readonly userId: string; readonly makesKey: boolean },
): Promise<GivenKey & { readonly accepted: AcceptedInvitation }> {
  const { key, secret } = makesKey ? makeSignInKey(parts, open, userId) : NO_KEY;
  return { key, secret, accepted: await accept(parts, open, { userId, user: null, key }) };
}

const NO_KEY: GivenKey = { key: null, secret: null };

/**
 * Accepts an invitation for a new person: creates the user, with the e-mail of the invitation, and a management key of the organization.
 * @throws GatewayError `conflict` if the invitation cannot be accepted, or if another user has the e-mail.
 */
export async function acceptAsNewUser(parts: InvitationParts, open: OpenInvitation, name: string) {
  const { email } = open.invitation;
  const user = makeAccount(parts.stores, { kind: "user", settings: { name, email } });
  const { key, secret } = makeSignInKey(parts, open, user.id);
  return { user, key, secret, accepted: await accept(parts, open, { userId: user.id, user, key }) };
}

function makeSignInKey({ stores }: InvitationParts, { organization }: OpenInvitation, userId: string) {
  return makeKey(stores, { kind: "management", name: KEY_NAME, accountId: organization.id, userId });
}

async function accept(
  { stores, keyCache, accountCache }: InvitationParts,
  open: OpenInvitation,
  acceptance: Parameters<typeof acceptInvitation>[2],
): Promise<AcceptedInvitation> {
  const { member, teams } = await acceptInvitation(stores, open, acceptance);
  const { id, organizationId } = open.invitation;
  const { userId, user, key } = acceptance;
  if (user !== null) accountCache.changed(userId);
  accountCache.memberChanged(organizationId, userId);
  if (key !== null) keyCache.changed(key);
  const parts = teams.map(({ teamId, isLead }) => [teamId, isLead ? "lead" : "member"] as const);
  return { id, organizationId, userId, role: member?.role ?? null, teams: Object.fromEntries(parts) };
}

/**
 * Checks that an invitation may be accepted by the owner of an e-mail address; null if the address is not known, or not verified.
 * @throws GatewayError `permission_denied` if the invitation is for another one.
 */
export function requireInvitedEmail(
  { invitation: { email } }: OpenInvitation,
  owned: AccountRecord["email"],
  remedy: string,
): void {
  if (email === null || email === owned) return;
  fail("permission_denied", `This invitation is for ${email}. ${remedy}`, {
    metadata: { field: "email", reason: "other_email" },
  });
}
