import type { KeyUse, ProviderKeyRecord, SealedSecret } from "./records.ts";

/** Where accounts' own keys at providers are kept, sealed. Several processes may share one. */
export interface ProviderKeyStore {
  insertProviderKey(key: ProviderKeyRecord): Promise<void>;
  /** Replaces what is said of a key, and its secret where `sealed` is given; false when there is none with that id. */
  updateProviderKey(key: ProviderKeyRecord, sealed: SealedSecret | null): Promise<boolean>;
  /** Forgets a key and its secret; false when there was none. */
  removeProviderKey(id: string): Promise<boolean>;
  findProviderKey(id: string): Promise<ProviderKeyRecord | null>;
  /** All keys of an account, by provider and order. */
  listProviderKeys(accountId: string): Promise<readonly ProviderKeyRecord[]>;
  /** Rises with every change of a key but its use and its sealing, whichever process makes it. */
  providerKeyRevision(): Promise<number>;
  /** Notes when keys were used last and what was wrong, of those that are still there. */
  recordKeyUses(uses: readonly KeyUse[]): Promise<void>;
  /** Keys that another master key than this one has sealed, or all where it is null, behind an id, in the order of their ids. */
  listSealedByOthers(
    masterKeyId: string | null,
    afterId: string | null,
    limit: number,
  ): Promise<readonly ProviderKeyRecord[]>;
  /** Replaces a sealed secret unless it has been replaced meanwhile; true when it was. */
  reseal(id: string, from: SealedSecret, to: SealedSecret): Promise<boolean>;
  /** Master keys by which something is sealed. */
  listMasterKeysInUse(): Promise<readonly string[]>;
}
