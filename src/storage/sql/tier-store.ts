import {
  formatStoredTier,
  parseStoredTier,
  type StoredTier,
  TIER_SETTING,
  type TierStore,
} from "../../core/catalog/tiers/tier-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { SettingGroup } from "./statements/setting-group.ts";

/** Tiers in the settings. */
export class SqlTierStore implements TierStore {
  private readonly settings: SettingGroup;

  constructor(database: SqlDatabase) {
    this.settings = new SettingGroup(database, { prefix: TIER_SETTING, revision: "tiers" });
  }

  tierRevision() {
    return this.settings.revision();
  }

  async listTiers() {
    return (await this.settings.list()).flatMap((value) => parseStoredTier(value) ?? []);
  }

  putTier(stored: StoredTier) {
    return this.settings.put(stored.tier.id, formatStoredTier(stored));
  }

  deleteTier(id: string) {
    return this.settings.delete(id);
  }
}
