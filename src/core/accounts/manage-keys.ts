import { fail } from "../../base/errors.ts";
import { toDollars } from "../../base/money.ts";
import type { Random } from "../../base/random.ts";
import { type KnownNames, requireKnownNames } from "../catalog/known-names.ts";
import type { KeyStore } from "./key-store.ts";
import type { AccountStores } from "./manage-accounts.ts";
import {
  changeKeyRateLimit,
  isOperators,
  type KeyRateLimitChange,
  presentRateLimit,
} from "./own-rate-limit.ts";
import { type AccountRecord, DEFAULT_ACCOUNT_ID, type KeyRecord } from "./records.ts";
import { createSecret, hashSecret, hintOf } from "./secrets.ts";

/** What making a key takes. */
export interface KeyStores extends AccountStores {
  readonly keys: KeyStore;
  readonly random: Random;
}

/** What a new key is to be. */
export interface NewKey {
  readonly name: string;
  readonly kind: KeyRecord["kind"];
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
  /** Left out: the operator's own. */
  readonly accountId?: string;
  readonly userId?: string | null;
  readonly spendLimit?: number | null;
  readonly models?: readonly string[] | null;
  readonly rateLimit?: KeyRateLimitChange | undefined;
}

/** Makes and stores a key. The secret is in this answer and nowhere else. */
export async function createKey(
  stores: KeyStores,
  wanted: NewKey,
): Promise<{ secret: string; key: KeyRecord }> {
  const secret = createSecret(stores.random);
  const key: KeyRecord = {
    id: stores.ids.next("key"),
    kind: wanted.kind,
    accountId: wanted.accountId ?? DEFAULT_ACCOUNT_ID,
    userId: wanted.userId ?? null,
    name: wanted.name,
    hash: hashSecret(secret),
    hint: hintOf(secret),
    spendLimit: wanted.spendLimit ?? null,
    models: wanted.models ?? null,
    rateLimit: changeKeyRateLimit(null, wanted.rateLimit),
    createdAt: stores.clock.now(),
    expiresAt: wanted.expiresAt,
    revokedAt: null,
  };
  await stores.keys.insertKey(key);
  return { secret, key };
}

/**
 * Makes a key for an account: of a user theirs, of an organization a member's or, without a user, a service key. It may
 * name models that `known` knows.
 * @throws GatewayError `invalid_request` for what does not fit together, or a model that is not known.
 */
export async function issueKey(
  stores: KeyStores,
  known: () => KnownNames,
  wanted: NewKey,
): Promise<{ secret: string; key: KeyRecord }> {
  const account = await stores.accounts.findAccount(wanted.accountId ?? DEFAULT_ACCOUNT_ID);
  if (account === null || account.closedAt !== null)
    return rejectField("account_id", "names no account, or one that is closed");
  const userId = await findKeysUser(stores, account, wanted.userId ?? null);
  checkKey(wanted, stores.clock.now());
  requireKnownNames(known, [{ field: "models", kind: "model", names: wanted.models }]);
  return createKey(stores, { ...wanted, userId });
}

async function findKeysUser(
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
  return rejectField("user_id", "is whose account it is, or left out");
}

/** What may change of a key; what is left out stays. */
export interface KeyChange {
  readonly name?: string | undefined;
  readonly spendLimit?: number | null | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly rateLimit?: KeyRateLimitChange | undefined;
  readonly expiresAt?: number | null | undefined;
}

/**
 * Changes a key. It may name models that it named before and those that `known` knows.
 * @throws GatewayError `invalid_request` for what does not fit together, or a model that is not known; `conflict` for a key that is revoked;
 * `permission_denied` where an account would change a limit that the operator has set.
 */
export async function changeKey(
  { keys, clock }: KeyStores,
  known: () => KnownNames,
  { id, kind, revokedAt, rateLimit, models }: KeyRecord,
  change: KeyChange,
): Promise<KeyRecord> {
  checkKey({ kind, ...change }, clock.now());
  requireKnownNames(known, [{ field: "models", kind: "model", names: change.models, kept: models }]);
  if (revokedAt !== null) fail("conflict", "This key is revoked. Make another one.");
  if (change.rateLimit !== undefined && isOperators(rateLimit, change.rateLimit))
    fail("permission_denied", "The operator has set this key's rate_limit. Leave it out, or ask them.", {
      metadata: { field: "rate_limit" },
    });
  const changed = await keys.changeKey(id, (key) => ({
    ...key,
    name: change.name ?? key.name,
    spendLimit: change.spendLimit === undefined ? key.spendLimit : change.spendLimit,
    models: change.models === undefined ? key.models : change.models,
    rateLimit: changeKeyRateLimit(key.rateLimit, change.rateLimit),
    expiresAt: change.expiresAt === undefined ? key.expiresAt : change.expiresAt,
  }));
  return changed ?? fail("not_found", "There is no key with that id.");
}

/** @throws GatewayError `invalid_request`. */
function checkKey(
  { kind, spendLimit, models, rateLimit, expiresAt }: KeyChange & { readonly kind: KeyRecord["kind"] },
  now: number,
): void {
  if (typeof expiresAt === "number" && expiresAt <= now) rejectField("expires_at", "must lie in the future");
  if (kind === "inference") return;
  if (typeof spendLimit === "number") rejectField("spend_limit", "is for inference keys; leave it out");
  if (models) rejectField("models", "is for inference keys; leave it out");
  if (rateLimit?.limit) rejectField("rate_limit", "is for inference keys; leave it out");
}

function rejectField(field: string, problem: string): never {
  return fail("invalid_request", `${field} ${problem}.`, { metadata: { field } });
}

/** A key as the management API and the command show it. */
export function presentKey(key: KeyRecord): Record<string, unknown> {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind,
    hint: key.hint,
    account_id: key.accountId,
    user_id: key.userId,
    spend_limit: key.spendLimit === null ? null : toDollars(key.spendLimit),
    models: key.models,
    rate_limit: presentRateLimit(key.rateLimit),
    rate_limit_set_by: key.rateLimit?.setBy ?? null,
    created_at: isoTime(key.createdAt),
    expires_at: isoTime(key.expiresAt),
    revoked_at: isoTime(key.revokedAt),
  };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
