import type { TierRecord } from "./tier-records.ts";

/** Where a tier is defined: in the shipped catalog, in the stores, or in the configuration file. Later ones replace earlier ones. */
export const TIER_SOURCES = ["catalog", "database", "file"] as const;
export type TierSource = (typeof TIER_SOURCES)[number];

/** A tier in force, and where it is defined. */
export interface ListedTier {
  readonly tier: TierRecord;
  readonly source: TierSource;
  /** The configuration file and the line of the tier, if the source is the file. */
  readonly file: string | null;
  readonly line: number | null;
  /** When it was stored, in milliseconds since the epoch, if the source is the database and the revision is kept. */
  readonly updatedAt: number | null;
  /** The sources whose tier with the same id is not in force. */
  readonly replaces: readonly TierSource[];
}

/** Lists the tiers, and changes those in the stores. */
export interface TierManager {
  /** Returns the tiers in force by id. */
  list(): Promise<readonly ListedTier[]>;
  /**
   * Stores a tier in the stored configuration. It replaces one of the catalog, and every gateway uses it within a second. `by` is the id of
   * the credential. Returns what was stored before, or null.
   * @throws GatewayError `conflict` if a configuration file defines the tier; `invalid_request` if there are too many.
   */
  put(tier: TierRecord, by: string): Promise<TierRecord | null>;
  /**
   * Deletes a stored tier. One of the catalog with the same id is in force again. Returns what was stored.
   * @throws GatewayError `not_found` if there is no tier with the id; `conflict` if it is not in the stores.
   */
  remove(id: string, by: string): Promise<TierRecord>;
}
