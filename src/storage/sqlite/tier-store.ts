import type { Database } from "bun:sqlite";
import {
  formatStoredTier,
  parseStoredTier,
  type StoredTier,
  TIER_SETTING,
  type TierStore,
} from "../../core/catalog/tiers/tier-store.ts";
import { SettingGroup } from "./setting-group.ts";

/** Tiers in the settings of SQLite. */
export class SqliteTierStore implements TierStore {
  private readonly settings: SettingGroup;

  constructor(database: Database) {
    this.settings = new SettingGroup(database, { prefix: TIER_SETTING, revision: "tier_revision" });
  }

  async tierRevision() {
    return this.settings.revision();
  }

  async listTiers() {
    return this.settings.list().flatMap((value) => parseStoredTier(value) ?? []);
  }

  async putTier(stored: StoredTier) {
    this.settings.put(stored.tier.id, formatStoredTier(stored));
  }

  async deleteTier(id: string) {
    return this.settings.delete(id);
  }
}
