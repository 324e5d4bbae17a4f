import { GatewayError } from "../../base/failures/errors.ts";
import { sha256 } from "../../base/secrets/hash.ts";
import { cleanName } from "../../base/text/plain-text.ts";
import { changeAccount, createAccount } from "../accounts/manage/manage-accounts.ts";
import { createKey, type KeyStores } from "../accounts/manage/manage-keys.ts";
import { putMember, removeMember } from "../accounts/manage/manage-members.ts";
import type { AccountCache } from "../accounts/memory/account-cache.ts";
import type { KeyCache } from "../accounts/memory/key-cache.ts";
import { readEmail } from "../accounts/records/account-fields.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord, type Role } from "../accounts/records/records.ts";
import { SESSION_MAX_MS } from "./console-session.ts";
import type { Unknown } from "./find-claim.ts";
import type { Identity, IdentityStore } from "./identity-store.ts";
import { type OidcClaims, OidcError } from "./oidc-provider.ts";
import { applyOidcRules, type OidcGrant, type OidcRule } from "./oidc-rules.ts";

/** The changes of a sign-in, successful or not, for the audit log. */
export interface SignInChanges {
  /** The user that the person is linked to; null if there is none, or the person is the operator. */
  userId: string | null;
  /** Whether the user was created. */
  createdUser: boolean;
  /** The user's new e-mail; null if it did not change. */
  email: string | null;
  /** The roles that the user got in organizations; null where the membership has ended. */
  readonly roles: Map<string, Role | null>;
}

/** Returns no changes. */
export function noSignInChanges(): SignInChanges {
  return { userId: null, createdUser: false, email: null, roles: new Map() };
}

/** The dependencies of a sign-in of an identity. */
export interface IdentitySignIn {
  readonly identities: IdentityStore;
  readonly stores: KeyStores;
  readonly keyCache: Pick<KeyCache, "changed">;
  readonly accountCache: Pick<AccountCache, "changed" | "memberChanged">;
  readonly rules: readonly OidcRule[];
  /** Whether a person without a user gets one, if a rule grants a role. */
  readonly createsUsers: boolean;
}

/**
 * Returns the management key for a session of a person: the operator's, or the user's in an organization. First applies the rules to the
 * user's memberships, and adds the changes to `changes`. The secret of the key is given to no one, so only sessions use it.
 * @throws OidcError if the person has no user here, the user has no organization, or the provider does not send what the rules need.
 */
export async function findIdentityKey(
  context: IdentitySignIn,
  claims: OidcClaims,
  changes: SignInChanges,
): Promise<KeyRecord> {
  requireReadableSubject(claims.sub);
  const grant = applyOidcRules(context.rules, claims);
  const name = keyNameOf(claims.sub);
  if (grant.isOperator) return renewKey(context, { name, accountId: DEFAULT_ACCOUNT_ID, userId: null });
  if (grant.unknown.size > 0) return findKeyWithoutRules(context, claims, { grant, changes, name });
  const { userId } = await findIdentity(context, claims, { grant, changes });
  changes.userId = userId;
  await setVerifiedEmail(context, { userId, claims, changes });
  await applyMemberships(context, { userId, grant, changes });
  const [first] = await context.stores.accounts.listMemberships(userId);
  const accountId = grant.roles.keys().next().value ?? first?.organizationId;
  if (accountId === undefined) return rejectWithoutOrganization(userId);
  return renewKey(context, { name, accountId, userId });
}

/** @throws OidcError because a person has no organization. */
export function rejectWithoutOrganization(person: string): never {
  throw new OidcError(
    "You are signed in at the provider, but no rule gives you a role in an organization of this gateway, and you are not a member of any. Ask the operator to add you, or to add a rule for one of your groups to console.oidc.rules.",
    `no organization for ${person}`,
  );
}

/** The results of a sign-in so far. */
interface Progress {
  readonly grant: OidcGrant;
  readonly changes: SignInChanges;
}

/**
 * Returns the key of a person for whom the provider does not send what the rules need. Unknown does not mean "none", so memberships do not
 * change. A user whom no rule concerns can still sign in.
 * @throws OidcError for all others, with the reason.
 */
async function findKeyWithoutRules(
  context: IdentitySignIn,
  claims: OidcClaims,
  { grant, changes, name }: Progress & { readonly name: string },
): Promise<KeyRecord> {
  const { identities, stores, rules } = context;
  const identity = await identities.findIdentity(claims.iss, claims.sub);
  const memberships = identity === null ? [] : await stores.accounts.listMemberships(identity.userId);
  const ruled = listRuledOrganizations(rules);
  const [first] = memberships;
  if (identity === null || first === undefined || memberships.some((one) => ruled.has(one.organizationId)))
    return rejectUnknown(grant.unknown);
  const { userId } = identity;
  changes.userId = userId;
  await setVerifiedEmail(context, { userId, claims, changes });
  return renewKey(context, { name, accountId: first.organizationId, userId });
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
  { grant, changes }: Progress,
): Promise<Identity> {
  const { iss: issuer, sub: subject } = claims;
  const known = await identities.findIdentity(issuer, subject);
  if (known !== null) return known;
  if (!createsUsers || grant.roles.size === 0) return rejectUnlinked(subject);
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
  const isVerified = claims["email_verified"] === true || claims["email_verified"] === "true";
  const email = isVerified ? readEmail(claims["email"]) : null;
  if (email === null || (await stores.accounts.findAccount(userId))?.email === email) return;
  await ignoreConflict(async () => {
    await changeAccount(stores, NO_NAMES, { kind: "user", id: userId, change: { email } });
    changes.email = email;
  });
  accountCache.changed(userId);
}

function nameOf(claims: OidcClaims): string {
  const texts = [claims["name"], claims["preferred_username"], claims["email"], claims.sub];
  const name = texts.find((text): text is string => typeof text === "string" && cleanName(text) !== "");
  return cleanName(name ?? claims.sub).slice(0, 100);
}

/** Updates memberships. In organizations that a rule names, the rules decide. The last owner of an organization keeps the role. */
async function applyMemberships(
  { rules, stores, accountCache, keyCache }: IdentitySignIn,
  { userId, grant, changes }: Progress & { readonly userId: string },
): Promise<void> {
  for (const organizationId of listRuledOrganizations(rules)) {
    const role = grant.roles.get(organizationId);
    const member = await stores.accounts.findMember(organizationId, userId);
    if (member?.role === role) continue;
    await ignoreConflict(async () => {
      if (role === undefined)
        for (const key of await removeMember(stores, organizationId, userId)) keyCache.changed(key);
      else await putMember(stores, { organizationId, userId, role, dailyLimit: member?.dailyLimit ?? null });
      changes.roles.set(organizationId, role ?? null);
    });
    accountCache.memberChanged(organizationId, userId);
  }
}

/** Returns the organizations in which rules decide who is a member. */
export function listRuledOrganizations(rules: readonly OidcRule[]): ReadonlySet<string> {
  return new Set(rules.flatMap((rule) => (rule.operator ? [] : [rule.organization])));
}

/** Does without a change that the last owner of an organization, or the e-mail of another user, forbids. */
async function ignoreConflict(change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!(error instanceof GatewayError && error.failure.code === "conflict")) throw error;
  }
}

/** Returns the person's key in an account, valid as long as a session that begins now. Creates a key if there is none. */
async function renewKey(
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
