import type { SealedSecret } from "../provider-keys/records.ts";

/** A value of the stored configuration: JSON, in which secrets are references (`${secret:name}`). */
export type ConfigValue =
  | string
  | number
  | boolean
  | null
  | readonly ConfigValue[]
  | { readonly [name: string]: ConfigValue };

/** The settings that the management API has stored: a document in the schema of the configuration file. */
export type ConfigDocument = { readonly [name: string]: ConfigValue };

/** What is known of a revision of the stored configuration without its document. */
export interface RevisionHead {
  /** 1 for the first. */
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
  /** The id of the credential that made the change. */
  readonly changedBy: string;
  /** The paths of the settings that differ from the revision before, at most `MAX_CHANGED`. */
  readonly changed: readonly (readonly string[])[];
}

/** A revision of the stored configuration. Every change of a setting or of a secret makes the next one. */
export interface ConfigRevision extends RevisionHead {
  readonly document: ConfigDocument;
}

/** A secret of the stored configuration, encrypted with the master key. */
export interface ConfigSecret {
  /** Its name, which references contain: `openai-1`. It stays the same when the value is replaced. */
  readonly id: string;
  /** No account owns it, so the ciphertext of an account's key cannot take its place. */
  readonly accountId: null;
  /** The last characters of the secret, by which people recognize it; empty for a short secret. */
  readonly lastFour: string;
  readonly sealed: SealedSecret;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A change of the stored configuration. It is made whole or not at all. */
export interface ConfigChangeSet {
  /** The revision that the change was made from; 0 for none. */
  readonly from: number;
  readonly next: Omit<ConfigRevision, "revision">;
  /** Secrets to add, or whose values to replace. */
  readonly secrets: readonly ConfigSecret[];
  /** Ids of secrets to delete. */
  readonly removedSecrets: readonly string[];
}

/** The number of revisions that are kept. */
export const MAX_REVISIONS = 100;
/** The maximum number of settings that a revision names. */
export const MAX_CHANGED = 1_000;

/** Stores the configuration that the management API sets. */
export interface ConfigStore {
  /** Returns a number that changes with every change, so that other processes notice it. */
  configChanges(): Promise<number>;
  /** Returns the latest revision; null if nothing was ever stored. */
  findLatestConfig(): Promise<ConfigRevision | null>;
  /** Returns a kept revision; null if there is none with that number. */
  findConfigRevision(revision: number): Promise<ConfigRevision | null>;
  /** Returns up to `limit` revisions before `before`, the latest first. */
  listConfigRevisions(before: number | null, limit: number): Promise<readonly RevisionHead[]>;
  /**
   * Stores the first revisions, in their order, at most `MAX_REVISIONS`. Returns false, and changes nothing, if there is a revision already.
   */
  beginConfig(revisions: readonly Omit<ConfigRevision, "revision">[]): Promise<boolean>;
  /** Makes a change the next revision. Returns its number; null, and changes nothing, if `from` is not the latest one. */
  putConfig(change: ConfigChangeSet): Promise<number | null>;
  /** Returns all secrets, by id. */
  listConfigSecrets(): Promise<readonly ConfigSecret[]>;
  /** Returns secrets that are not encrypted with `masterKeyId`, by id, after `afterId`. */
  listSealedByOthers(
    masterKeyId: string | null,
    afterId: string | null,
    limit: number,
  ): Promise<readonly ConfigSecret[]>;
  /** Replaces a ciphertext. Returns false if it is no longer `from`. */
  reseal(id: string, from: SealedSecret, to: SealedSecret): Promise<boolean>;
  /** Returns the ids of the master keys that encrypt at least one secret. */
  listMasterKeysInUse(): Promise<readonly string[]>;
}
