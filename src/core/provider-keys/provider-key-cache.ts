import { memoize } from "../accounts/memoize.ts";
import { type ByokKey, type ByokKeys, labelOf } from "./byok-keys.ts";
import type { ProviderKeyStore } from "./provider-key-store.ts";
import type { KeyUse, ProviderKeyRecord } from "./records.ts";
import type { Vault } from "./vault.ts";

/** Caches BYOK keys in memory for the hot path, and collects records of their use. */
export interface ProviderKeyCache {
  /** Returns an account's enabled keys; null if it has none. */
  of(accountId: string): Promise<ByokKeys | null>;
  /** Whether a key is still enabled, with the same secret. */
  isCurrent(accountId: string, key: Pick<ByokKey, "label" | "provider">): Promise<boolean>;
  /** Records that a key was used. The next `saveUses` stores it. */
  recordUse(use: KeyUse): void;
  saveUses(): Promise<void>;
  /** Clears the cache if a process has changed any key since the last call. Saves uses. */
  refresh(): Promise<void>;
  /** Clears the cache. Call it after a change by this process. */
  clear(): void;
}

/** Returns a cache over a store. Keys are decrypted when their account is first used; those that cannot be are passed to `onUnreadable`. */
export function createProviderKeyCache(
  store: ProviderKeyStore,
  vault: Vault,
  onUnreadable: (key: ProviderKeyRecord) => void,
): ProviderKeyCache {
  const openKey = (key: ProviderKeyRecord): ByokKey => {
    const secret = vault.open(key.sealed, key);
    if (secret === null) onUnreadable(key);
    const { id, provider, models, members } = key;
    return { id, provider, models, members, label: labelOf(key), secret };
  };
  const known = memoize(async (accountId) => {
    const enabled = (await store.listProviderKeys(accountId)).filter((key) => key.enabled);
    return enabled.length === 0 ? null : Map.groupBy(enabled.map(openKey), ({ provider }) => provider);
  });
  const uses = createUseRecorder(store);
  let revision = -1;
  return {
    of: known.get,
    async isCurrent(accountId, { label, provider }) {
      const keys = await known.get(accountId);
      return keys?.get(provider)?.some((key) => key.label === label) ?? false;
    },
    recordUse: uses.record,
    saveUses: uses.save,
    async refresh() {
      const current = await store.providerKeyRevision();
      if (current !== revision) known.clear();
      revision = current;
      await uses.save();
    },
    clear: known.clear,
  };
}

/** Collects the last use of each key until it is saved. */
function createUseRecorder(store: Pick<ProviderKeyStore, "recordKeyUses">) {
  let uses = new Map<string, KeyUse>();
  return {
    record(use: KeyUse): void {
      const error = use.error ?? uses.get(use.id)?.error ?? null;
      uses.set(use.id, { ...use, error });
    },
    async save(): Promise<void> {
      if (uses.size === 0) return;
      const saving = uses;
      uses = new Map();
      try {
        await store.recordKeyUses([...saving.values()]);
      } catch (error) {
        // Uses that were recorded meanwhile take precedence.
        uses = new Map([...saving, ...uses]);
        throw error;
      }
    },
  };
}
