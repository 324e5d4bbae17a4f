import { sha256 } from "../../base/secrets/hash.ts";
import { cleanName } from "../../base/text/plain-text.ts";
import { changeAccount, createAccount } from "../accounts/manage/manage-accounts.ts";
import type { OpenInvitation } from "../accounts/manage/manage-invitations.ts";
import { createKey } from "../accounts/manage/manage-keys.ts";
import { readEmail } from "../accounts/records/account-fields.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../accounts/records/records.ts";
import { type AcceptedInvitation, acceptAsUser, requireInvitedEmail } from "./accept-invitation.ts";
import { applyGrant, ignoreConflict, listRuledOrganizations } from "./apply-grant.ts";
import { SESSION_MAX_MS } from "./console-session.ts";
import type { Unknown } from "./find-claim.ts";
import type { IdentitySignIn, SignInChanges } from "./identity-sign-in.ts";
import type { Identity } from "./identity-store.ts";
import { type OidcClaims, OidcError } from "./oidc-provider.ts";
import { applyOidcRules, type OidcGrant } from "./oidc-rules.ts";

/**
 * Returns the management key for a session of a person: the operator's, or the user's in an organization. First applies the rules to the
 * user's memberships, and accepts the invitation with which the person comes, if there is one. Adds the changes to `changes`. The secret
 * of the key is given to no one, so only sessions use it.
 * @throws OidcError if the person has no user here, the user has no organization, or the provider does not send what the rules need;
 * GatewayError if the invitation is for another person, or can no longer be accepted.
 */
export async function findIdentityKey(
  context: IdentitySignIn,
  claims: OidcClaims,
  { changes, invitation = null }: SignInOfIdentity,
): Promise<KeyRecord> {
  requireReadableSubject(claims.sub);
  const grant = applyOidcRules(context.rules, claims);
  const name = keyNameOf(claims.sub);
  if (grant.isOperator) {
    if (invitation !== null) rejectInvitedOperator();
    return renewIdentityKey(context, { name, accountId: DEFAULT_ACCOUNT_ID, userId: null });
  }
  if (invitation !== null) requireInvitedEmail(invitation, verifiedEmailOf(claims), SIGN_IN_AS_OTHER);
  const areRulesKnown = grant.unknown.size === 0;
  if (!areRulesKnown) await requireUnruled(context, claims, { grant, invitation });
  const { userId } = await findIdentity(context, claims, { grant, changes, invitation });
  changes.userId = userId;
  await setVerifiedEmail(context, { userId, claims, changes });
  const applyRules = async () => {
    if (areRulesKnown) await applyGrant(context, { userId, grant, changes });
  };
  if (invitation === null) await applyRules();
  else changes.invitation = await acceptWithRules(context, { userId, invitation, applyRules });
  const [first] = await context.stores.accounts.listMemberships(userId);
  const granted = areRulesKnown ? grant.roles.keys().next().value : undefined;
  const accountId = invitation?.organization.id ?? granted ?? first?.organizationId;
  if (accountId === undefined) return rejectWithoutOrganization(userId);
  return renewIdentityKey(context, { name, accountId, userId });
}

/** A person who comes with an invitation, and what the rules change for them. */
interface InvitedPerson {
  readonly userId: string;
  readonly invitation: OpenInvitation;
  readonly applyRules: () => Promise<void>;
}

/**
 * Accepts an invitation, and applies the rules. A new member gets the role of the invitation, which the rules then leave alone. For a member
 * the rules come first: they may end the membership, and then the invitation makes it anew.
 */
async function acceptWithRules(
  context: IdentitySignIn,
  { userId, invitation, applyRules }: InvitedPerson,
): Promise<AcceptedInvitation> {
  const member = await context.stores.accounts.findMember(invitation.organization.id, userId);
  if (member !== null) await applyRules();
  const { accepted } = await acceptAsUser(context, invitation, { userId, makesKey: false });
  if (member === null) await applyRules();
  return accepted;
}

/** A sign-in of a person: its changes so far, and the invitation with which the person has come. */
interface SignInOfIdentity {
  readonly changes: SignInChanges;
  readonly invitation?: OpenInvitation | null;
}

const SIGN_IN_AS_OTHER =
  "The provider has not verified this address for you. Sign out at the provider, open the link again, and sign in as the person with this address.";

function rejectInvitedOperator(): never {
  throw new OidcError(
    "You are the operator of this gateway by a rule, and the operator is no member of organizations. The invitation was not accepted.",
    "the operator has come with an invitation",
  );
}

/** @throws OidcError because a person has no organization. */
export function rejectWithoutOrganization(person: string): never {
  throw new OidcError(
    "You are signed in at the provider, but no rule gives you a role in an organization of this gateway, and you are not a member of any. Ask the operator to add you, or to add a rule for one of your groups to console.oidc.rules.",
    `no organization for ${person}`,
  );
}

/** The results of a sign-in so far. */
interface Progress extends SignInOfIdentity {
  readonly grant: OidcGrant;
}

/**
 * Checks that no rule concerns a person for whom the provider does not send what the rules need. Unknown does not mean "none", so their
 * memberships do not change.
 * @throws OidcError for all others, with the reason.
 */
async function requireUnruled(
  { identities, stores, rules }: IdentitySignIn,
  claims: OidcClaims,
  { grant, invitation = null }: Omit<Progress, "changes">,
): Promise<void> {
  const identity = await identities.findIdentity(claims.iss, claims.sub);
  const memberships = identity === null ? [] : await stores.accounts.listMemberships(identity.userId);
  const invited = invitation === null ? [] : [invitation.organization.id];
  const organizations = [...memberships.map(({ organizationId }) => organizationId), ...invited];
  const ruled = listRuledOrganizations(rules);
  if (organizations.length === 0 || organizations.some((id) => ruled.has(id))) rejectUnknown(grant.unknown);
}

const REASONS: Readonly<Record<Unknown, string>> = {
  absent: "neither the ID token nor the userinfo endpoint has it",
  "too many": "there is too much of it for the token",
};

/** @throws OidcError because claims that rules need are unknown. */
export function rejectUnknown(unknown: OidcGrant["unknown"]): never {
  const reasons = [...unknown].map(([claim, reason]) => `${claim}: ${REASONS[reason]}`).join("; ");
  throw new OidcError(
    `The provider did not send all claims on which this gateway's rules depend (${reasons}). You are not signed in, and your memberships are unchanged. Ask the operator to let the provider send the claim: with a scope (console.oidc.scopes), with a setting of the client at the provider, or, if there are too many groups, with only those that are assigned to the application.`,
    `claims that rules need are unknown: ${reasons}`,
  );
}

/** Checks that a subject can be shown in names of keys and in messages. Subjects are at most 255 ASCII characters (OpenID Connect Core 2). */
export function requireReadableSubject(subject: string): void {
  if (/^[\x20-\x7e]{1,255}$/.test(subject)) return;
  throw new OidcError(
    "The provider's name for you (sub) has characters that are not allowed, or more than 255. Ask the operator.",
    `the subject ${JSON.stringify(subject.slice(0, 300))} is not ASCII of at most 255 characters`,
  );
}

/** Revokes all keys for sessions of a person, and so ends the sessions. Returns the keys. */
export async function revokeIdentityKeys(
  context: IdentitySignIn,
  issuer: string,
  subject: string,
): Promise<readonly KeyRecord[]> {
  const identity = await context.identities.findIdentity(issuer, subject);
  const { keys, clock } = context.stores;
  const name = keyNameOf(subject);
  const found = [
    ...(await keys.listKeys({ accountId: DEFAULT_ACCOUNT_ID, name })),
    ...(identity === null ? [] : await keys.listKeys({ userId: identity.userId, name })),
  ];
  const live = found.filter((key) => key.name === name && key.revokedAt === null);
  for (const key of live) {
    await keys.revokeKey(key.id, clock.now());
    context.keyCache.changed(key);
  }
  return live;
}

const KEY_NAME = "console sign-in";
/** A longer subject is shortened and gets its hash. Names of shorter subjects are never that long. */
const MAX_SUBJECT_CHARS = 80;
const SHOWN_CHARS = 24;

/** Returns the name of the keys for sessions of a person. Two subjects never have the same. */
function keyNameOf(subject: string): string {
  if (subject.length <= MAX_SUBJECT_CHARS) return `${KEY_NAME} ${subject}`;
  return `${KEY_NAME} ${subject.slice(0, SHOWN_CHARS)}…${sha256(subject, "hex")}`;
}

/** Returns whether a key is for sessions of a person of the OpenID Connect provider. */
export function isIdentityKey({ name }: Pick<KeyRecord, "name">): boolean {
  return name.startsWith(`${KEY_NAME} `);
}

async function findIdentity(
  { identities, stores, createsUsers, accountCache }: IdentitySignIn,
  claims: OidcClaims,
  { grant, changes, invitation = null }: Progress,
): Promise<Identity> {
  const { iss: issuer, sub: subject } = claims;
  const known = await identities.findIdentity(issuer, subject);
  if (known !== null) return known;
  if (invitation === null && (!createsUsers || grant.roles.size === 0)) return rejectUnlinked(subject);
  const settings = { name: nameOf(claims) };
  const user = await createAccount(stores, NO_NAMES, { kind: "user", settings });
  accountCache.changed(user.id);
  changes.createdUser = true;
  changes.userId = user.id;
  const identity = { issuer, subject, userId: user.id, createdAt: stores.clock.now() };
  // Another sign-in of the same person may have been faster.
  if (await identities.addIdentity(identity)) return identity;
  return (await identities.findIdentity(issuer, subject)) ?? identity;
}

/** @throws OidcError because a person is linked to no user, and none may be created. */
export function rejectUnlinked(subject: string): never {
  throw new OidcError(
    `You are signed in at the provider, but this gateway has no user for you. Ask the operator to link one: gateway identities add <user> ${subject}`,
    `no user for the subject ${subject}`,
  );
}

/** No policy is set, so that no name is checked. */
function NO_NAMES(): never {
  throw new Error("no policy is set, so that there are no names to check");
}

/** Gives a user the e-mail that the provider has verified, unless another user has it. The provider's e-mail replaces an earlier one. */
async function setVerifiedEmail(
  { stores, accountCache }: IdentitySignIn,
  {
    userId,
    claims,
    changes,
  }: { readonly userId: string; readonly claims: OidcClaims; readonly changes: SignInChanges },
): Promise<void> {
  const email = verifiedEmailOf(claims);
  if (email === null || (await stores.accounts.findAccount(userId))?.email === email) return;
  await ignoreConflict(async () => {
    await changeAccount(stores, NO_NAMES, { kind: "user", id: userId, change: { email } });
    changes.email = email;
  });
  accountCache.changed(userId);
}

/** Returns the e-mail of a person in lower case; null if the provider does not say that it has verified it. */
function verifiedEmailOf(claims: OidcClaims): string | null {
  const isVerified = claims["email_verified"] === true || claims["email_verified"] === "true";
  return isVerified ? readEmail(claims["email"]) : null;
}

function nameOf(claims: OidcClaims): string {
  const texts = [claims["name"], claims["preferred_username"], claims["email"], claims.sub];
  const name = texts.find((text): text is string => typeof text === "string" && cleanName(text) !== "");
  return cleanName(name ?? claims.sub).slice(0, 100);
}

/** Returns the person's key in an account, valid as long as a session that begins now. Creates a key if there is none. */
export async function renewIdentityKey(
  { stores, keyCache }: IdentitySignIn,
  {
    name,
    accountId,
    userId,
  }: { readonly name: string; readonly accountId: string; readonly userId: string | null },
): Promise<KeyRecord> {
  const now = stores.clock.now();
  const expiresAt = now + SESSION_MAX_MS;
  const keys = await stores.keys.listKeys({ accountId, name, ...(userId === null ? {} : { userId }) });
  const known = keys.find(
    (key) =>
      key.name === name && key.userId === userId && key.revokedAt === null && (key.expiresAt ?? 0) > now,
  );
  const renewed =
    known === undefined
      ? (await createKey(stores, { kind: "management", name, accountId, userId, expiresAt })).key
      : await stores.keys.changeKey(known.id, (key) => ({ ...key, expiresAt }));
  if (renewed === null) throw new Error("the key of the session has disappeared");
  keyCache.changed(renewed);
  return renewed;
}
