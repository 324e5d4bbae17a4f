import { fail } from "../../../base/failures/errors.ts";
import type { Random } from "../../../base/secrets/random.ts";
import { type KnownNames, requireKnownNames } from "../../catalog/served/known-names.ts";
import { INFERENCE_SETTINGS, KEY_SETTINGS } from "../fields/key-fields.ts";
import { changeKeyRateLimit, isOperators, type KeyRateLimitChange } from "../fields/own-rate-limit.ts";
import { type Change, findSetField, mergeChange, unsetFields } from "../fields/resource-fields.ts";
import { type AccountRecord, DEFAULT_ACCOUNT_ID, FIRST_SECRET, type KeyRecord } from "../records/records.ts";
import { createSecret, hashSecret, hintOf } from "../records/secrets.ts";
import type { KeyStore } from "../stores/key-store.ts";
import type { AccountStores } from "./manage-accounts.ts";

/** The stores that managing keys needs. */
export interface KeyStores extends AccountStores {
  readonly keys: KeyStore;
  readonly random: Random;
}

/** The fields of a key to change. Absent and undefined fields keep their value. */
export interface KeyChange extends Omit<Change<typeof KEY_SETTINGS>, "rateLimit"> {
  readonly rateLimit?: KeyRateLimitChange | undefined;
}

/** The fields of a new key. */
export interface NewKey extends KeyChange {
  readonly name: string;
  readonly kind: KeyRecord["kind"];
  /** Default: the operator account. */
  readonly accountId?: string | undefined;
  readonly userId?: string | null | undefined;
  readonly teamId?: string | null | undefined;
}

/** A new key and its secret, which is not stored. */
interface CreatedKey {
  readonly secret: string;
  readonly key: KeyRecord;
}

/** Creates and stores a key without checking its fields. */
export async function createKey(stores: KeyStores, wanted: NewKey): Promise<CreatedKey> {
  const created = makeKey(stores, wanted);
  await stores.keys.insertKey(created.key);
  return created;
}

/** Returns a new key and its secret, without storing them. */
export function makeKey(stores: KeyStores, wanted: NewKey): CreatedKey {
  const secret = createSecret(stores.random);
  const { kind, name, rateLimit, ...more } = wanted;
  const { accountId = DEFAULT_ACCOUNT_ID, userId = null, teamId = null, ...settings } = more;
  const blank: KeyRecord = {
    ...unsetFields(KEY_SETTINGS),
    id: stores.ids.next("key"),
    kind,
    accountId,
    userId,
    teamId,
    name,
    hash: hashSecret(secret),
    hint: hintOf(secret),
    ...FIRST_SECRET,
    rateLimit: changeKeyRateLimit(null, rateLimit),
    createdAt: stores.clock.now(),
    revokedAt: null,
    lastUsedAt: null,
  };
  return { secret, key: mergeChange(blank, settings) };
}

/**
 * Creates a key for an account. A user's key belongs to that user. An organization's key belongs to a member, or is a service key if no
 * user is given. `most` bounds the valid keys that the user has then in the account.
 * @throws GatewayError `invalid_request` for fields that contradict each other, and for a model that is not in `known`; `conflict` above
 * `most`.
 */
export async function issueKey(
  stores: KeyStores,
  known: () => KnownNames,
  { most, ...wanted }: NewKey & { readonly most?: number },
): Promise<CreatedKey> {
  const account = await stores.accounts.findAccount(wanted.accountId ?? DEFAULT_ACCOUNT_ID);
  if (account === null || account.closedAt !== null)
    return rejectField("account_id", "must be the id of an open account");
  const userId = await findUserOfKey(stores, account, wanted.userId ?? null);
  if (wanted.teamId != null) await requireTeamOfKey(stores, wanted, { accountId: account.id, userId });
  checkKey(wanted, stores.clock.now());
  requireKnownNames(known, [{ field: "models", kind: "model", names: wanted.models, use: "allow" }]);
  const created = makeKey(stores, { ...wanted, userId });
  if (most === undefined) await stores.keys.insertKey(created.key);
  else if (!(await stores.keys.insertKeyWithin(created.key, most)))
    fail(
      "conflict",
      `You already have ${most} valid keys, which is the most that this organization allows. Revoke one first.`,
    );
  return created;
}

/** How a key gets a new secret. */
interface Rotation {
  readonly key: KeyRecord;
  /** Milliseconds for which the present secret stays valid; 0: it ends at once. */
  readonly overlapMs: number;
}

/**
 * Gives a key a new secret. A secret before the present one ends at once.
 * @throws GatewayError `conflict` for a revoked or expired key.
 */
export async function rotateKey(
  { keys, clock, random }: KeyStores,
  { key: { id, expiresAt }, overlapMs }: Rotation,
): Promise<CreatedKey> {
  const now = clock.now();
  const secret = createSecret(random);
  const isExpired = expiresAt !== null && expiresAt <= now;
  const key = isExpired
    ? null
    : await keys.rotateKey(id, {
        ...{ hash: hashSecret(secret), hint: hintOf(secret), at: now },
        previousUntil: overlapMs === 0 ? null : now + overlapMs,
      });
  return { secret, key: key ?? fail("conflict", "This key is revoked or has expired. Create another key.") };
}

async function findUserOfKey(
  { accounts }: KeyStores,
  { id, kind }: AccountRecord,
  userId: string | null,
): Promise<string | null> {
  if (kind === "organization") {
    if (userId === null || (await accounts.findMember(id, userId)) !== null) return userId;
    return rejectField("user_id", "must be a member of the organization; leave it out for a service key");
  }
  const owner = id === DEFAULT_ACCOUNT_ID ? null : id;
  if (userId === null || userId === owner) return owner;
  return rejectField("user_id", "must be the account's own user, or left out");
}

/** @throws GatewayError `invalid_request` unless the team is one of the organization, and the user a member of it. */
async function requireTeamOfKey(
  { teams }: KeyStores,
  { kind, teamId }: NewKey,
  { accountId, userId }: { readonly accountId: string; readonly userId: string | null },
): Promise<void> {
  if (kind === "management") rejectField("team_id", INFERENCE_ONLY);
  const team = await teams.findTeam(teamId ?? "");
  if (team === null || team.organizationId !== accountId || team.deletedAt !== null)
    return rejectField("team_id", "must be the id of a team of the organization");
  if (userId !== null && (await teams.findTeamMember(team.id, userId)) === null)
    rejectField("team_id", "must be a team that the user of the key is in");
}

/**
 * Changes a key. Its models must be known (`known`) or have been set before.
 * @throws GatewayError `invalid_request` for fields that contradict each other, and for an unknown model; `conflict` for a revoked key;
 * `permission_denied` if an account changes a rate limit that the operator has set.
 */
export async function changeKey(
  { keys, clock }: KeyStores,
  known: () => KnownNames,
  { key: { id, kind, revokedAt, rateLimit, models }, change }: { key: KeyRecord; change: KeyChange },
): Promise<KeyRecord> {
  checkKey({ kind, ...change }, clock.now());
  requireKnownNames(known, [
    { field: "models", kind: "model", names: change.models, kept: models, use: "allow" },
  ]);
  if (revokedAt !== null) fail("conflict", "This key is revoked. Create another key.");
  if (change.rateLimit !== undefined && isOperators(rateLimit, change.rateLimit))
    fail("permission_denied", "The operator has set this key's rate_limit. Omit it, or ask the operator.", {
      metadata: { field: "rate_limit" },
    });
  const changed = await keys.changeKey(id, (key) =>
    mergeChange(key, { ...change, rateLimit: changeKeyRateLimit(key.rateLimit, change.rateLimit) }),
  );
  return changed ?? fail("not_found", "There is no key with that id.");
}

/** @throws GatewayError `invalid_request`. */
function checkKey({ kind, ...change }: KeyChange & { readonly kind: KeyRecord["kind"] }, now: number): void {
  const { expiresAt, rateLimit } = change;
  if (typeof expiresAt === "number" && expiresAt <= now) rejectField("expires_at", "must be in the future");
  if (kind === "inference") return;
  const first = findSetField(INFERENCE_SETTINGS, { ...change, rateLimit: rateLimit?.limit });
  if (first !== undefined) rejectField(first, INFERENCE_ONLY);
}

const INFERENCE_ONLY = "applies to inference keys only; leave it out for a management key";

function rejectField(field: string, problem: string): never {
  return fail("invalid_request", `${field} ${problem}.`, { metadata: { field } });
}
