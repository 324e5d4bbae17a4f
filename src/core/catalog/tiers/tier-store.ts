import { parseStored } from "../records/parse-stored.ts";
import type { TierRecord } from "./tier-records.ts";
import { tierSchema } from "./tier-schema.ts";

/** A tier that an operator has stored while the gateway runs. */
export interface StoredTier {
  readonly tier: TierRecord;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** Stores the tiers that the management API and commands change. Several processes may share one. */
export interface TierStore {
  /** Returns a number that changes with every change of any tier by any process. */
  tierRevision(): Promise<number>;
  /** Returns the stored tiers by id, without those that this version cannot read. */
  listTiers(): Promise<readonly StoredTier[]>;
  /** Adds or replaces the tier with this id. */
  putTier(stored: StoredTier): Promise<void>;
  /** Returns false if there was no such tier. */
  deleteTier(id: string): Promise<boolean>;
}

/** The beginning of the names of the settings that contain tiers; the id follows. */
export const TIER_SETTING = "tier ";

/** Formats a tier for a store. */
export function formatStoredTier({ tier, updatedAt }: StoredTier): string {
  return JSON.stringify({ tier, updatedAt });
}

/** Parses a stored tier. Returns null for one that this version cannot read, such as one of a later version. */
export function parseStoredTier(text: string): StoredTier | null {
  const stored = JSON.parse(text) as StoredTier;
  const tier = parseStored<TierRecord>(tierSchema, stored.tier);
  return tier === null ? null : { tier, updatedAt: stored.updatedAt };
}
