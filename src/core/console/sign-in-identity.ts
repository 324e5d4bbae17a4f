import { GatewayError } from "../../base/errors.ts";
import type { AccountCache } from "../accounts/account-cache.ts";
import { readEmail } from "../accounts/account-fields.ts";
import type { KeyCache } from "../accounts/key-cache.ts";
import { changeAccount, createAccount } from "../accounts/manage-accounts.ts";
import { createKey, type KeyStores } from "../accounts/manage-keys.ts";
import { putMember, removeMember } from "../accounts/manage-members.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../accounts/records.ts";
import { SESSION_MAX_MS } from "./console-session.ts";
import type { Identity, IdentityStore } from "./identity-store.ts";
import { type OidcClaims, OidcError } from "./oidc-provider.ts";
import { applyOidcRules, type OidcGrant, type OidcRule } from "./oidc-rules.ts";

/** What a sign-in of an identity needs. */
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
 * Returns the management key for a session of a person: the operator's or the user's in an organization. Applies the rules to the user's
 * memberships first. The secret of the key is given to no one, so that it is used by sessions only.
 * @throws OidcError if the person has no user here, or the user no organization.
 */
export async function findIdentityKey(context: IdentitySignIn, claims: OidcClaims): Promise<KeyRecord> {
  const grant = applyOidcRules(context.rules, claims);
  const name = keyNameOf(claims.sub);
  if (grant.isOperator) return renewKey(context, { name, accountId: DEFAULT_ACCOUNT_ID, userId: null });
  const { userId } = await findIdentity(context, claims, grant);
  await setVerifiedEmail(context, userId, claims);
  await applyMemberships(context, userId, grant);
  const [first] = await context.stores.accounts.listMemberships(userId);
  const accountId = grant.roles.keys().next().value ?? first?.organizationId;
  if (accountId === undefined)
    throw new OidcError(
      "You are signed in at the provider, but no rule gives you a role in an organization of this gateway, and you are no member of one. Ask the operator to add you, or to add a rule for one of your groups to console.oidc.rules.",
      `no organization for ${userId}`,
    );
  return renewKey(context, { name, accountId, userId });
}

/** Revokes all keys for sessions of a person, and so ends the sessions. Returns how many there were. */
export async function revokeIdentityKeys(context: IdentitySignIn, issuer: string, subject: string) {
  const identity = await context.identities.findIdentity(issuer, subject);
  const { keys, clock } = context.stores;
  const found = [
    ...(await keys.listKeys({ accountId: DEFAULT_ACCOUNT_ID })),
    ...(identity === null ? [] : await keys.listKeys({ userId: identity.userId })),
  ];
  const live = found.filter((key) => key.name === keyNameOf(subject) && key.revokedAt === null);
  for (const key of live) {
    await keys.revokeKey(key.id, clock.now());
    context.keyCache.changed(key);
  }
  return live.length;
}

const KEY_NAME = "console sign-in";
const MAX_SUBJECT_CHARS = 80;

/** Returns the name of the keys for sessions of a person. */
function keyNameOf(subject: string): string {
  return `${KEY_NAME} ${subject.slice(0, MAX_SUBJECT_CHARS)}`;
}

/** Returns whether a key is for sessions of a person of the OpenID Connect provider. */
export function isIdentityKey({ name }: Pick<KeyRecord, "name">): boolean {
  return name.startsWith(`${KEY_NAME} `);
}

async function findIdentity(
  { identities, stores, createsUsers, accountCache }: IdentitySignIn,
  claims: OidcClaims,
  grant: OidcGrant,
): Promise<Identity> {
  const { iss: issuer, sub: subject } = claims;
  const known = await identities.findIdentity(issuer, subject);
  if (known !== null) return known;
  if (!createsUsers || grant.roles.size === 0)
    throw new OidcError(
      `You are signed in at the provider, but this gateway has no user for you. Ask the operator to link one: gateway identities add <user> ${subject.slice(0, MAX_SUBJECT_CHARS)}`,
      `no user for the subject ${subject}`,
    );
  const settings = { name: nameOf(claims) };
  const user = await createAccount(stores, NO_NAMES, { kind: "user", settings });
  accountCache.changed(user.id);
  const identity = { issuer, subject, userId: user.id, createdAt: stores.clock.now() };
  // Another sign-in of the same person may have been faster.
  if (await identities.addIdentity(identity)) return identity;
  return (await identities.findIdentity(issuer, subject)) ?? identity;
}

/** No policy is set, so that no name is checked. */
function NO_NAMES(): never {
  throw new Error("no policy is set, so that there are no names to check");
}

/** Gives a user the e-mail that the provider has verified, unless another user has it. The provider's e-mail replaces an earlier one. */
async function setVerifiedEmail(
  { stores, accountCache }: IdentitySignIn,
  userId: string,
  claims: OidcClaims,
): Promise<void> {
  const isVerified = claims["email_verified"] === true || claims["email_verified"] === "true";
  const email = isVerified ? readEmail(claims["email"]) : null;
  if (email === null || (await stores.accounts.findAccount(userId))?.email === email) return;
  await unlessConflict(async () => {
    await changeAccount(stores, NO_NAMES, { kind: "user", id: userId, change: { email } });
  });
  accountCache.changed(userId);
}

function nameOf(claims: OidcClaims): string {
  const texts = [claims["name"], claims["preferred_username"], claims["email"], claims.sub];
  const name = texts.find((text): text is string => typeof text === "string" && text.trim() !== "");
  return (name ?? claims.sub).trim().slice(0, 100);
}

/** In organizations that a rule names, the rules decide. The last owner of an organization stays. */
async function applyMemberships(
  { rules, stores, accountCache }: IdentitySignIn,
  userId: string,
  { roles }: OidcGrant,
): Promise<void> {
  const ruled = new Set(rules.flatMap((rule) => (rule.operator ? [] : [rule.organization])));
  for (const organizationId of ruled) {
    const role = roles.get(organizationId);
    const member = await stores.accounts.findMember(organizationId, userId);
    if (member?.role === role) continue;
    await unlessConflict(async () => {
      if (role === undefined) return removeMember(stores, organizationId, userId);
      await putMember(stores, { organizationId, userId, role, dailyLimit: member?.dailyLimit ?? null });
    });
    accountCache.memberChanged(organizationId, userId);
  }
}

/** Does without a change that the last owner of an organization, or the e-mail of another user, forbids. */
async function unlessConflict(change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!(error instanceof GatewayError && error.failure.code === "conflict")) throw error;
  }
}

/** Returns the person's key in an account, valid as long as a session that begins now. Creates it if there is none. */
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
  const keys = await stores.keys.listKeys({ accountId, ...(userId === null ? {} : { userId }) });
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
