import type { SealedSecret } from "../../provider-keys/records.ts";

/** The unencrypted part of a stored entry. */
export interface PromptLogHead {
  /** The id of the generation. */
  readonly id: string;
  readonly accountId: string;
  /** The content's data key, sealed under a master key. */
  readonly sealed: SealedSecret;
}

/** The bodies of one generation, encrypted. */
export interface PromptLogEntry extends PromptLogHead {
  readonly keyId: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The content, encrypted under the data key. */
  readonly ciphertext: Uint8Array;
}

/** Where prompt log entries are stored. Several processes may share one. */
export interface PromptLogStore {
  /** Adds entries, all of them or none. Existing entries are kept. */
  addEntries(entries: readonly PromptLogEntry[]): Promise<void>;
  /** Returns an entry that has not expired at `now`; null if there is none. */
  findEntry(id: string, now: number): Promise<PromptLogEntry | null>;
  /** Returns whether a generation has an entry that has not expired at `now`. */
  hasEntry(id: string, now: number): Promise<boolean>;
  /** Deletes the entries that have expired at `now`, at most `limit` of them, and returns how many it deleted. */
  deleteExpired(now: number, limit: number): Promise<number>;
  /** Lists entries by id whose data key another master key has sealed, from after `afterId` on. */
  listSealedByOthers(
    masterKeyId: string,
    afterId: string | null,
    limit: number,
  ): Promise<readonly PromptLogHead[]>;
  /** Replaces a sealed data key. Returns false, and changes nothing, if it is no longer `before`. */
  reseal(id: string, before: SealedSecret, after: SealedSecret): Promise<boolean>;
  /** Lists the ids of the master keys that entries are sealed under. */
  listMasterKeysInUse(): Promise<readonly string[]>;
}
