import type { KeyRecord } from "../records/records.ts";
import type { ChangedRows } from "./follow-changes.ts";

/** The orders of a list of keys: newest first; those whose secret is the oldest first; those that were not used for the longest time first. */
export const KEY_ORDERS = ["newest", "oldest_secret", "least_used"] as const;
export type KeyOrder = (typeof KEY_ORDERS)[number];

/** Selects keys. Absent fields do not restrict the result. */
export interface KeyQuery {
  readonly accountId?: string;
  readonly userId?: string;
  readonly teamId?: string;
  /** Only keys of this user, or of one of these teams. */
  readonly seenBy?: { readonly userId: string; readonly teamIds: readonly string[] };
  /** Only keys that are not revoked and whose secret was made before. Milliseconds since the epoch. */
  readonly secretBefore?: number;
  /** Only keys with this name. The case of ASCII letters does not matter. */
  readonly name?: string;
  /** Only keys whose name or hint contains this text. The case of ASCII letters does not matter. */
  readonly search?: string;
  /** Only keys that are not revoked, and were neither created nor used since `before`; null: never used. Milliseconds since the epoch. */
  readonly unused?: { readonly before: number | null };
  /** Default: `newest`. */
  readonly order?: KeyOrder;
  /** Only keys after this id in the order of the list. */
  readonly afterId?: string;
  readonly limit?: number;
}

/** A use of a key. */
export interface KeyUse {
  readonly id: string;
  /** The beginning of the hour, in milliseconds since the epoch. */
  readonly usedAt: number;
  /** The secret was the one before the last rotation. */
  readonly isPrevious?: true;
}

/** A new secret of a key, and until when the present one is valid. */
export interface NewSecret extends Pick<KeyRecord, "hash" | "hint"> {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds since the epoch; null: the present secret ends at once. */
  readonly previousUntil: number | null;
}

/** Selects former secrets that end soon although they are still used. Times are milliseconds. */
export interface FormerSecretQuery {
  readonly now: number;
  /** How long before its end a former secret is announced at the earliest. The first half of the overlap is never announced. */
  readonly withinMs: number;
  readonly limit: number;
}

/** A user in an account. */
export interface KeyOwner {
  readonly accountId: string;
  readonly userId: string;
}

/** Stores API keys. Several processes may share one. */
export interface KeyStore {
  insertKey(key: KeyRecord): Promise<void>;
  /**
   * Inserts an inference key of a user in an account, unless the user has `most` there that are neither revoked nor expired. Returns whether
   * it did. Of several callers at the same time, no more succeed than fit.
   */
  insertKeyWithin(key: KeyRecord, most: number): Promise<boolean>;
  /** Returns how many inference keys of a user in an account are neither revoked nor expired at a time. Milliseconds since the epoch. */
  countValidKeys(owner: KeyOwner, now: number): Promise<number>;
  findKey(id: string): Promise<KeyRecord | null>;
  /** Returns the key with a secret, which may be the one before its last rotation. */
  findKeyByHash(hash: string): Promise<KeyRecord | null>;
  /** Returns the names of keys by their ids, with `accountId` only those of an account. Ids without a key are left out. */
  findKeyNames(ids: readonly string[], accountId?: string): Promise<ReadonlyMap<string, string>>;
  /** Returns keys, newest first. */
  listKeys(query?: KeyQuery): Promise<readonly KeyRecord[]>;
  /**
   * Returns keys that are not revoked and expire after `after` and not later than `until`, in milliseconds since
   * the epoch: the `limit` that expire first.
   */
  listExpiringKeys(after: number, until: number, limit: number): Promise<readonly KeyRecord[]>;
  /**
   * Returns the keys whose former secret is announced now, each once after a rotation: keys that are valid and that were used with it in
   * the time in which it is announced. It is no change of a key.
   */
  claimFormerSecrets(query: FormerSecretQuery): Promise<readonly KeyRecord[]>;
  /** Replaces the settings of a key (`KEY_SETTINGS`) by the result of `change`, in one transaction. Returns null if there is no such key. */
  changeKey(id: string, change: (key: KeyRecord) => KeyRecord): Promise<KeyRecord | null>;
  /** Gives a key that is not revoked a new secret. A secret before the present one ends. Returns null if there is no such key. */
  rotateKey(id: string, secret: NewSecret): Promise<KeyRecord | null>;
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
