import type { KeyRecord } from "./records.ts";

/** Which keys are asked for; what is left out restricts nothing. */
export interface KeyQuery {
  readonly accountId?: string;
  /** Only those behind this one, an id of the page before. */
  readonly afterId?: string;
  readonly limit?: number;
}

/** Where keys are kept. Several processes may share one. */
export interface KeyStore {
  insertKey(key: KeyRecord): Promise<void>;
  findKey(id: string): Promise<KeyRecord | null>;
  findKeyByHash(hash: string): Promise<KeyRecord | null>;
  /** Newest first. */
  listKeys(query?: KeyQuery): Promise<readonly KeyRecord[]>;
  /**
   * Replaces what may change of a key (name, spending limit, models, rate limit, end) by what `change` makes of it, with nobody else
   * changing it meanwhile; null when there is none.
   */
  changeKey(id: string, change: (key: KeyRecord) => KeyRecord): Promise<KeyRecord | null>;
  /** Marks a key revoked; null when there is none. Revoking twice keeps the first time. */
  revokeKey(id: string, revokedAt: number): Promise<KeyRecord | null>;
  /** A number that changes with every change to any key, by whichever process. */
  keyRevision(): Promise<number>;
}
