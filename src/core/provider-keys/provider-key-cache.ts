import { StoreError } from "../../base/failures/store-error.ts";
import type { StoreHealth } from "../../base/failures/store-health.ts";
import { nextTurn } from "../../base/time/next-turn.ts";
import { followChanges } from "../accounts/stores/follow-changes.ts";
import { memoize } from "../accounts/stores/memoize.ts";
import { type ByokKey, type ByokKeys, labelOf } from "./byok-keys.ts";
import type { ProviderKeyStore } from "./provider-key-store.ts";
import type { ProviderKeyRecord, ProviderKeyUse } from "./records.ts";
import type { Vault } from "./vault.ts";

/** Caches BYOK keys in memory for the hot path, and collects records of their use. */
export interface ProviderKeyCache {
  /**
   * Returns an account's enabled keys; an empty map, or null, if it has none. Rejects with a `StoreError` if they are not in memory while the store is unavailable.
   */
  of(accountId: string): Promise<ByokKeys | null>;
  /** Whether a key is still enabled, with the same secret; false if that is currently unknown. */
  isCurrent(accountId: string, key: Pick<ByokKey, "label" | "provider">): Promise<boolean>;
  /** Records that a key was used. The next `saveUses` stores it. */
  recordUse(use: ProviderKeyUse): void;
  saveUses(): Promise<void>;
  /** Reads keys again if a process has changed any of them since the last call. */
  refresh(): Promise<void>;
  /** Reads an account's keys again. Call it after this process has changed one of them. */
  changed(accountId: string): void;
}

/** The dependencies of a cache of provider keys. */
interface ProviderKeyCacheParts {
  readonly store: Pick<
    ProviderKeyStore,
    "listProviderKeys" | "providerKeyRevision" | "listChangedProviderKeys" | "recordKeyUses"
  >;
  readonly health: StoreHealth;
  readonly vault: Vault;
  /** Called with each key that cannot be decrypted. */
  readonly onUnreadable: (key: ProviderKeyRecord) => void;
}

/** Returns a cache over a store. Keys are decrypted when their account is first used. */
export function createProviderKeyCache(parts: ProviderKeyCacheParts): ProviderKeyCache {
  const { store, health, vault, onUnreadable } = parts;
  const openKey = (key: ProviderKeyRecord): ByokKey => {
    const secret = vault.open(key.sealed, key);
    if (secret === null) onUnreadable(key);
    const { id, provider, models, members, teams } = key;
    return { id, provider, models, members, teams, label: labelOf(key), secret };
  };
  // An account without keys has an empty map, which is a value like others: it is used while the store is unavailable.
  const known = memoize(async (accountId) => {
    const enabled = (await store.listProviderKeys(accountId)).filter((key) => key.enabled);
    return Map.groupBy(enabled.map(openKey), ({ provider }) => provider);
  }, health);
  const uses = createUseRecorder(store);
  return {
    of: known.get,
    async isCurrent(accountId, { label, provider }) {
      try {
        const keys = await known.get(accountId);
        return keys?.get(provider)?.some((key) => key.label === label) ?? false;
      } catch (error) {
        if (error instanceof StoreError) return false;
        throw error;
      }
    },
    recordUse: uses.record,
    saveUses: uses.save,
    refresh: followChanges({
      readRevision: () => store.providerKeyRevision(),
      listChanged: store.listChangedProviderKeys?.bind(store),
      caches: [known],
    }),
    changed: known.forget,
  };
}

/** The number of uses that one transaction saves, in a turn of the event loop of its own. */
const SAVED_AT_ONCE = 250;

/** Collects the last use of each key until it is saved. Uses that the store does not accept are kept. */
function createUseRecorder(store: Pick<ProviderKeyStore, "recordKeyUses">) {
  const waiting = new Map<string, ProviderKeyUse>();
  return {
    record(use: ProviderKeyUse): void {
      const error = use.error ?? waiting.get(use.id)?.error ?? null;
      waiting.set(use.id, { ...use, error });
    },
    // Uses that another call is still saving are saved again, so that everything recorded before a call can be read when it resolves.
    async save(): Promise<void> {
      const all = [...waiting.values()];
      for (let from = 0; from < all.length; from += SAVED_AT_ONCE) {
        if (from > 0) await nextTurn();
        const saving = all.slice(from, from + SAVED_AT_ONCE);
        await store.recordKeyUses(saving);
        for (const use of saving) if (waiting.get(use.id) === use) waiting.delete(use.id);
      }
    },
  };
}
