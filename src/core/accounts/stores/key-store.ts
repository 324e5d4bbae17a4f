import type { KeyRecord } from "../records/records.ts";
import type { ChangedRows } from "./follow-changes.ts";

/** Selects keys. Absent fields do not restrict the result. */
export interface KeyQuery {
  readonly accountId?: string;
  readonly userId?: string;
  /** Only keys with this name. The case of ASCII letters does not matter. */
  readonly name?: string;
  /** Only keys whose name or hint contains this text. The case of ASCII letters does not matter. */
  readonly search?: string;
  /** Only keys that are not revoked, and were neither created nor used since `before`; null: never used. Milliseconds since the epoch. */
  readonly unused?: { readonly before: number | null };
  /** Only keys after this id in the order of the list. */
  readonly afterId?: string;
  readonly limit?: number;
}

/** A use of a key. */
export interface KeyUse {
  readonly id: string;
  /** The beginning of the hour, in milliseconds since the epoch. */
  readonly usedAt: number;
}

/** Stores API keys. Several processes may share one. */
export interface KeyStore {
  insertKey(key: KeyRecord): Promise<void>;
  findKey(id: string): Promise<KeyRecord | null>;
  findKeyByHash(hash: string): Promise<KeyRecord | null>;
  /** Returns the names of keys by their ids. Ids without a key are left out. */
  findKeyNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns keys, newest first. */
  listKeys(query?: KeyQuery): Promise<readonly KeyRecord[]>;
  /**
   * Returns keys that are not revoked and expire after `after` and not later than `until`, in milliseconds since
   * the epoch: the `limit` that expire first.
   */
  listExpiringKeys(after: number, until: number, limit: number): Promise<readonly KeyRecord[]>;
  /** Replaces the settings of a key (`KEY_SETTINGS`) by the result of `change`, in one transaction. Returns null if there is no such key. */
  changeKey(id: string, change: (key: KeyRecord) => KeyRecord): Promise<KeyRecord | null>;
  /** Revokes a key. A second call keeps the first time. Returns null if there is no such key. */
  revokeKey(id: string, revokedAt: number): Promise<KeyRecord | null>;
  /** Records uses of keys. Keeps the latest of each key; ids without a key are left out. It is no change of a key. */
  recordKeyUses(uses: readonly KeyUse[]): Promise<void>;
  /** Returns a number that changes with every change of any key by any process. */
  keyRevision(): Promise<number>;
  /**
   * Returns what has changed since the cursor of an earlier call (`followChanges`): hashes of keys. Absent in a store that
   * does not record it.
   */
  listChangedKeys?(cursor: string | null): Promise<ChangedRows>;
}
