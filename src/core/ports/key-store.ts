import type { KeyRecord } from "../accounts/records.ts";

/** Where keys are kept. Several processes may share one. */
export interface KeyStore {
  insertKey(key: KeyRecord): Promise<void>;
  findKeyByHash(hash: string): Promise<KeyRecord | null>;
  /** Newest first. */
  listKeys(): Promise<readonly KeyRecord[]>;
  /** Marks a key revoked; null when there is none. Revoking twice keeps the first time. */
  revokeKey(id: string, revokedAt: number): Promise<KeyRecord | null>;
  /** A number that changes with every change to any key, by whichever process. */
  keyRevision(): Promise<number>;
}
