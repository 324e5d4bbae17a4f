import { memoize } from "../accounts/memoize.ts";
import { type ByokKey, type ByokKeys, labelOf } from "./byok-keys.ts";
import type { ProviderKeyStore } from "./provider-key-store.ts";
import type { KeyUse, ProviderKeyRecord } from "./records.ts";
import type { Vault } from "./vault.ts";

/** Finds accounts' own keys, from memory on the hot path, and keeps notes of their use. */
export interface ProviderKeyCache {
  /** An account's enabled keys, null without any; a promise only where memory does not know. */
  of(accountId: string): ByokKeys | null | Promise<ByokKeys | null>;
  /** Whether a key is still enabled and as it was; a promise only where memory does not know. */
  isCurrent(accountId: string, key: Pick<ByokKey, "label" | "provider">): boolean | Promise<boolean>;
  /** Notes that a key was used. It reaches the store with the next `saveUses`. */
  recordUse(use: KeyUse): void;
  saveUses(): Promise<void>;
  /** Forgets what it remembers, if any key has changed in the store since it last looked; saves uses. */
  refresh(): Promise<void>;
  /** Forgets at once; called where this process changes a key. */
  forget(): void;
}

/** A ring over a store. Secrets are opened when an account is first looked for, and `onUnreadable` hears of keys that cannot be. */
export function createProviderKeyCache(
  store: ProviderKeyStore,
  vault: Vault,
  onUnreadable: (key: ProviderKeyRecord) => void,
): ProviderKeyCache {
  const known = memoize(async (accountId) => {
    const enabled = (await store.listProviderKeys(accountId)).filter((key) => key.enabled);
    return enabled.length === 0 ? null : Map.groupBy(enabled.map(openKey), ({ provider }) => provider);
  });
  let uses = new Map<string, KeyUse>();
  let revision = -1;

  const openKey = (key: ProviderKeyRecord): ByokKey => {
    const secret = vault.open(key.sealed, key);
    if (secret === null) onUnreadable(key);
    const { id, provider, models, members } = key;
    return { id, provider, models, members, label: labelOf(key), secret };
  };

  const recordUse = (use: KeyUse): void => {
    const error = use.error ?? uses.get(use.id)?.error ?? null;
    uses.set(use.id, { ...use, error });
  };

  const saveUses = async (): Promise<void> => {
    if (uses.size === 0) return;
    const leaving = uses;
    uses = new Map();
    try {
      await store.recordKeyUses([...leaving.values()]);
    } catch (error) {
      // Newer notes that came meanwhile win.
      uses = new Map([...leaving, ...uses]);
      throw error;
    }
  };

  return {
    of: (accountId) => known.get(accountId),
    isCurrent(accountId, { label, provider }) {
      const has = (own: ByokKeys | null): boolean =>
        own?.get(provider)?.some((key) => key.label === label) ?? false;
      const found = known.get(accountId);
      return found instanceof Promise ? found.then(has) : has(found);
    },
    recordUse: recordUse,
    saveUses,
    async refresh() {
      const current = await store.providerKeyRevision();
      if (current !== revision) known.forget();
      revision = current;
      await saveUses();
    },
    forget: known.forget,
  };
}
