import type { ChangedRows } from "../accounts/stores/follow-changes.ts";
import type { ProviderKeyRecord, ProviderKeyUse, SealedSecret } from "./records.ts";

/** Stores BYOK keys, encrypted. Several processes may share one store. */
export interface ProviderKeyStore {
  insertProviderKey(key: ProviderKeyRecord): Promise<void>;
  /** Updates a key, and its secret unless `sealed` is null. Returns false if there is no key with this id. */
  updateProviderKey(key: ProviderKeyRecord, sealed: SealedSecret | null): Promise<boolean>;
  /** Deletes a key and its secret. Returns false if there was none. */
  removeProviderKey(id: string): Promise<boolean>;
  findProviderKey(id: string): Promise<ProviderKeyRecord | null>;
  /** Returns all keys of an account, sorted by provider and order. */
  listProviderKeys(accountId: string): Promise<readonly ProviderKeyRecord[]>;
  /** Returns a number that rises with every change of a key by any process, except changes of its last use and its master key. */
  providerKeyRevision(): Promise<number>;
  /**
   * Returns what has changed since the cursor of an earlier call (`followChanges`): accounts. Absent in a store that
   * does not record it.
   */
  listChangedProviderKeys?(cursor: string | null): Promise<ChangedRows>;
  /** Updates last use and last error of keys. Deleted keys are ignored. */
  recordKeyUses(uses: readonly ProviderKeyUse[]): Promise<void>;
  /** Returns keys that are not encrypted with `masterKeyId`, or all keys if it is null, sorted by id, after `afterId`. */
  listSealedByOthers(
    masterKeyId: string | null,
    afterId: string | null,
    limit: number,
  ): Promise<readonly ProviderKeyRecord[]>;
  /** Replaces a ciphertext. Returns false if it is no longer `from`. */
  reseal(id: string, from: SealedSecret, to: SealedSecret): Promise<boolean>;
  /** Returns the ids of the master keys that encrypt at least one secret. */
  listMasterKeysInUse(): Promise<readonly string[]>;
}
