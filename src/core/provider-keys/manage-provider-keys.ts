import { fail } from "../../base/failures/errors.ts";
import type { IdSource } from "../../base/secrets/ids.ts";
import type { Clock } from "../../base/time/clock.ts";
import { type Change, mergeChange, presentFields } from "../accounts/fields/resource-fields.ts";
import { type KnownNames, type NameList, requireKnownNames } from "../catalog/served/known-names.ts";
import type { ServedModels } from "../deployments/served-models.ts";
import type { ServedProvider } from "../deployments/served-provider.ts";
import { labelOf } from "./byok-keys.ts";
import type { ProviderKeyCache } from "./provider-key-cache.ts";
import { PROVIDER_KEY_FIELDS, type PROVIDER_KEY_SETTINGS } from "./provider-key-fields.ts";
import type { ProviderKeyStore } from "./provider-key-store.ts";
import type { ProviderKeyRecord } from "./records.ts";
import type { Vault } from "./vault.ts";

/** The stores for managing BYOK keys. */
export interface ProviderKeyStores {
  readonly store: ProviderKeyStore;
  readonly vault: Vault;
  readonly cache: Pick<ProviderKeyCache, "changed" | "recordUse" | "saveUses">;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** The fields of a BYOK key that its owner sets. Absent ones stay, or get their defaults in a new key. */
interface ProviderKeyChange extends Change<typeof PROVIDER_KEY_SETTINGS> {
  readonly secret?: string | undefined;
}

/** The fields of a new BYOK key. */
interface NewProviderKey extends ProviderKeyChange {
  readonly accountId: string;
  readonly provider: string;
  readonly secret: string;
}

/** The served models, and the names that are valid in a key's `models`. */
type ServedNames = KnownNames & { readonly servedModels: ServedModels };

/** The maximum number of BYOK keys per account. */
const MAX_KEYS = 100;

/**
 * Stores a new key, encrypted. By default it is tried after the account's other keys for the provider.
 * @throws GatewayError `invalid_request` if the provider accepts no BYOK keys or cannot be called with this one, if a model is unknown, or
 * if the account has too many keys.
 */
export async function createProviderKey(
  stores: ProviderKeyStores,
  served: ServedNames,
  wanted: NewProviderKey,
): Promise<ProviderKeyRecord> {
  const { accountId, provider: slug, secret, ...settings } = wanted;
  const provider = requireProvider(served.servedModels, slug);
  requireKnownNames(() => served, [{ field: "models", kind: "model", names: wanted.models, use: "answer" }]);
  requireFitting(provider, secret);
  const others = await stores.store.listProviderKeys(accountId);
  if (others.length >= MAX_KEYS)
    fail("invalid_request", `The account already has ${MAX_KEYS} provider keys. Delete one first.`);
  const orders = others.filter((key) => key.provider === slug).map(({ order }) => order);
  const id = stores.ids.next("pkey");
  const now = stores.clock.now();
  const blank: ProviderKeyRecord = {
    id,
    accountId,
    provider: provider.record.slug,
    name: provider.record.name,
    lastFour: lastFourOf(secret),
    sealed: stores.vault.seal(secret, { id, accountId }),
    order: Math.max(0, ...orders.map((order) => order + 1)),
    enabled: true,
    models: null,
    members: null,
    teams: null,
    createdAt: now,
    updatedAt: now,
    lastUsedAt: null,
    lastError: null,
  };
  const key = mergeChange(blank, settings);
  await stores.store.insertProviderKey(key);
  stores.cache.changed(accountId);
  return key;
}

/**
 * Changes a key and returns the changed one.
 * @throws GatewayError `invalid_request` if the provider cannot be called with the new secret or a model is unknown;
 * `not_found` if the key was deleted.
 */
export async function changeProviderKey(
  stores: ProviderKeyStores,
  served: ServedNames,
  { key, change }: { readonly key: ProviderKeyRecord; readonly change: ProviderKeyChange },
): Promise<ProviderKeyRecord> {
  const { secret, ...settings } = change;
  if (secret !== undefined) requireFitting(requireProvider(served.servedModels, key.provider), secret);
  const models: NameList = {
    field: "models",
    kind: "model",
    names: settings.models,
    kept: key.models,
    use: "answer",
  };
  requireKnownNames(() => served, [models]);
  const sealed = secret === undefined ? null : stores.vault.seal(secret, key);
  const changed: ProviderKeyRecord = {
    ...mergeChange(key, settings),
    lastFour: secret === undefined ? key.lastFour : lastFourOf(secret),
    sealed: sealed ?? key.sealed,
    updatedAt: stores.clock.now(),
  };
  const exists = await stores.store.updateProviderKey(changed, sealed);
  stores.cache.changed(key.accountId);
  return exists ? changed : rejectUnknownKey();
}

/**
 * Deletes a key and its secret. Requests in progress complete; no further requests use it.
 * @throws GatewayError `not_found` if there is none.
 */
export async function removeProviderKey(
  stores: ProviderKeyStores,
  { id, accountId }: Pick<ProviderKeyRecord, "id" | "accountId">,
): Promise<void> {
  const existed = await stores.store.removeProviderKey(id);
  stores.cache.changed(accountId);
  if (!existed) rejectUnknownKey();
}

/**
 * Returns a key of an account.
 * @throws GatewayError `not_found` if there is none, or it belongs to another account.
 */
export async function requireProviderKey(
  store: ProviderKeyStore,
  accountId: string,
  id: string,
): Promise<ProviderKeyRecord> {
  const key = await store.findProviderKey(id);
  return key?.accountId === accountId ? key : rejectUnknownKey();
}

/**
 * Decrypts a stored key and prepares it for use.
 * @throws GatewayError `invalid_request` if its provider no longer accepts BYOK keys or it cannot be decrypted.
 */
export function openProviderKey(
  stores: ProviderKeyStores,
  servedModels: ServedModels,
  key: ProviderKeyRecord,
) {
  const provider = requireProvider(servedModels, key.provider);
  const secret = stores.vault.open(key.sealed, key);
  if (secret === null)
    return fail(
      "invalid_request",
      "The key cannot be decrypted: its master key is missing or has changed. Store it again.",
    );
  return { provider, key: requireFitting(provider, secret, key) };
}

/** Presents a key as the management API and the command show it. */
export function presentProviderKey(
  { vault }: Pick<ProviderKeyStores, "vault">,
  key: ProviderKeyRecord,
): Record<string, unknown> {
  return presentFields(PROVIDER_KEY_FIELDS, { ...key, readable: isReadable(vault, key) });
}

/** Whether a key's secret can be decrypted with the known master keys. */
function isReadable(vault: Vault, key: ProviderKeyRecord): boolean {
  return vault.open(key.sealed, key) !== null;
}

function requireProvider(servedModels: ServedModels, slug: string): ServedProvider {
  const provider = servedModels.provider(slug);
  if (provider !== undefined && provider.readByokKey !== null) return provider;
  return fail(
    "invalid_request",
    `provider: ${JSON.stringify(slug.slice(0, 100))} does not accept BYOK keys here. GET /api/gateway/providers?all=true lists those that do as byokEnabled.`,
    { metadata: { field: "provider" } },
  );
}

/** @throws GatewayError if the provider cannot be called with the secret. */
function requireFitting({ record, readByokKey }: ServedProvider, secret: string, key?: ProviderKeyRecord) {
  const identity = key === undefined ? { id: "new", label: "new" } : { id: key.id, label: labelOf(key) };
  const reading = readByokKey?.({ ...identity, secret });
  if (reading?.kind === "key") return reading.key;
  const why = reading === undefined ? "" : `: ${reading.reason}`;
  return fail("invalid_request", `key: ${record.name} cannot be called with it${why}.`, {
    metadata: { field: "key" },
  });
}

function rejectUnknownKey(): never {
  return fail("not_found", "The account has no provider key with this id.");
}

/** Returns the last characters of a secret. For a service account's file, returns those of its key id. */
function lastFourOf(secret: string): string {
  const keyId = /"private_key_id"\s*:\s*"([^"]*)"/.exec(secret)?.[1];
  return (keyId ?? secret).slice(-4);
}
