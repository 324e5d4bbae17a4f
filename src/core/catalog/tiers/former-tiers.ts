import { parseStored } from "../records/parse-stored.ts";
import type { TierRecord } from "./tier-records.ts";
import { tierSchema } from "./tier-schema.ts";

/** A tier as versions up to 0.2 stored it, apart from the stored configuration. */
export interface FormerTier {
  readonly tier: TierRecord;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** Reads the tiers that versions up to 0.2 have stored. */
export interface FormerTierStore {
  /** Returns the tiers by id, without those that this version cannot read. */
  listFormerTiers(): Promise<readonly FormerTier[]>;
}

/** The beginning of the names of the settings that contain tiers; the id follows. */
export const TIER_SETTING = "tier ";

/** Parses a stored tier. Returns null for one that this version cannot read, such as one of a later version. */
export function parseFormerTier(text: string): FormerTier | null {
  const stored = JSON.parse(text) as FormerTier;
  const tier = parseStored<TierRecord>(tierSchema, stored.tier);
  return tier === null ? null : { tier, updatedAt: stored.updatedAt };
}
