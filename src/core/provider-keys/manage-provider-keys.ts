import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import type { IdSource } from "../../base/ids.ts";
import { type Change, mergeChange, presentFields } from "../accounts/resource-fields.ts";
import { type KnownNames, type NameList, requireKnownNames } from "../catalog/known-names.ts";
import type { ServedModels, ServedProvider } from "../deployments/served-models.ts";
import { labelOf } from "./byok-keys.ts";
import type { ProviderKeyCache } from "./provider-key-cache.ts";
import { PROVIDER_KEY_FIELDS, type PROVIDER_KEY_SETTINGS } from "./provider-key-fields.ts";
import type { ProviderKeyStore } from "./provider-key-store.ts";
import type { ProviderKeyRecord } from "./records.ts";
import type { Vault } from "./vault.ts";

/** What managing accounts' own keys takes. */
export interface ProviderKeyStores {
  readonly store: ProviderKeyStore;
  readonly vault: Vault;
  readonly ring: Pick<ProviderKeyCache, "forget" | "recordUse" | "saveUses">;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** What the owner of a key says of it; what is left out stays, or is as usual. */
export interface ProviderKeyChange extends Change<typeof PROVIDER_KEY_SETTINGS> {
  readonly secret?: string | undefined;
}

/** A new key. */
export interface NewProviderKey extends ProviderKeyChange {
  readonly accountId: string;
  readonly provider: string;
  readonly secret: string;
}

/** What is served here, and the names that a key's models may have. */
export type ServedNames = KnownNames & { readonly servedModels: ServedModels };

/** Keys that one account may have. */
const MAX_KEYS = 100;

/**
 * Stores a key, sealed. It is tried behind those that the account has for the provider, unless its order says otherwise.
 * @throws GatewayError `invalid_request` for a provider that takes none, a key that it cannot be called with, a model that is
 * not known, or one too many.
 */
export async function createProviderKey(
  stores: ProviderKeyStores,
  served: ServedNames,
  wanted: NewProviderKey,
): Promise<ProviderKeyRecord> {
  const { accountId, provider: slug, secret, ...settings } = wanted;
  const provider = requireProvider(served.servedModels, slug);
  requireKnownNames(() => served, [{ field: "models", kind: "model", names: wanted.models }]);
  requireFitting(provider, secret);
  const others = await stores.store.listProviderKeys(accountId);
  if (others.length >= MAX_KEYS)
    fail("invalid_request", `The account has ${MAX_KEYS} keys at providers already. Remove one first.`);
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
    createdAt: now,
    updatedAt: now,
    lastUsedAt: null,
    lastError: null,
  };
  const key = mergeChange(blank, settings);
  await stores.store.insertProviderKey(key);
  stores.ring.forget();
  return key;
}

/**
 * Changes a key; gives it as it is then.
 * @throws GatewayError `invalid_request` for a secret that its provider cannot be called with or a model that is not known;
 * `not_found` where it is gone.
 */
export async function changeProviderKey(
  stores: ProviderKeyStores,
  served: ServedNames,
  key: ProviderKeyRecord,
  wish: ProviderKeyChange,
): Promise<ProviderKeyRecord> {
  const { secret, ...settings } = wish;
  if (secret !== undefined) requireFitting(requireProvider(served.servedModels, key.provider), secret);
  const models: NameList = { field: "models", kind: "model", names: settings.models, kept: key.models };
  requireKnownNames(() => served, [models]);
  const sealed = secret === undefined ? null : stores.vault.seal(secret, key);
  const changed: ProviderKeyRecord = {
    ...mergeChange(key, settings),
    lastFour: secret === undefined ? key.lastFour : lastFourOf(secret),
    sealed: sealed ?? key.sealed,
    updatedAt: stores.clock.now(),
  };
  const isThere = await stores.store.updateProviderKey(changed, sealed);
  stores.ring.forget();
  return isThere ? changed : refuseUnknownKey();
}

/**
 * Forgets a key and its secret; requests with it end, no further one begins.
 * @throws GatewayError `not_found` where it is gone.
 */
export async function removeProviderKey(stores: ProviderKeyStores, id: string): Promise<void> {
  const wasThere = await stores.store.removeProviderKey(id);
  stores.ring.forget();
  if (!wasThere) refuseUnknownKey();
}

/**
 * A key of an account.
 * @throws GatewayError `not_found`, for another account's too.
 */
export async function requireProviderKey(
  store: ProviderKeyStore,
  accountId: string,
  id: string,
): Promise<ProviderKeyRecord> {
  const key = await store.findProviderKey(id);
  return key?.accountId === accountId ? key : refuseUnknownKey();
}

/**
 * A stored key, opened and ready for use.
 * @throws GatewayError `invalid_request` where its provider is not served any more, or it cannot be read.
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
      "The key cannot be opened: the master key that sealed it is missing or has changed. Store it again.",
    );
  return { provider, key: requireFitting(provider, secret, key) };
}

/** A key as the management API and the command show it. */
export function presentProviderKey(
  { vault }: Pick<ProviderKeyStores, "vault">,
  key: ProviderKeyRecord,
): Record<string, unknown> {
  return presentFields(PROVIDER_KEY_FIELDS, { ...key, readable: isReadable(vault, key) });
}

/** Whether a key's secret can be opened with the master keys that are known here. */
export function isReadable(vault: Vault, key: ProviderKeyRecord): boolean {
  return vault.open(key.sealed, key) !== null;
}

function requireProvider(servedModels: ServedModels, slug: string): ServedProvider {
  const provider = servedModels.provider(slug);
  if (provider !== undefined && provider.readByokKey !== null) return provider;
  return fail(
    "invalid_request",
    `provider: ${JSON.stringify(slug.slice(0, 100))} takes no keys here. GET /api/gateway/providers?all=true lists those that do, with byokEnabled.`,
    { metadata: { field: "provider" } },
  );
}

/** @throws GatewayError for a secret with which the provider cannot be called. */
function requireFitting({ record, readByokKey }: ServedProvider, secret: string, key?: ProviderKeyRecord) {
  const own = key === undefined ? { id: "new", label: "new" } : { id: key.id, label: labelOf(key) };
  const reading = readByokKey?.({ ...own, secret });
  if (reading?.kind === "key") return reading.key;
  const why = reading === undefined ? "" : `: ${reading.reason}`;
  return fail("invalid_request", `key: ${record.name} cannot be called with it${why}.`, {
    metadata: { field: "key" },
  });
}

function refuseUnknownKey(): never {
  return fail("not_found", "The account has no key at a provider with that id.");
}

/** Of a service account's file, whose end says nothing, its key's id. */
function lastFourOf(secret: string): string {
  const keyId = /"private_key_id"\s*:\s*"([^"]*)"/.exec(secret)?.[1];
  return (keyId ?? secret).slice(-4);
}
