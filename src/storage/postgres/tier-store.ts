import {
  formatStoredTier,
  parseStoredTier,
  type StoredTier,
  TIER_SETTING,
  type TierStore,
} from "../../core/catalog/tiers/tier-store.ts";
import type { Postgres } from "./client.ts";
import type { KnownRevisions } from "./revision.ts";
import { SettingGroup } from "./setting-group.ts";

/** Tiers in the settings of PostgreSQL. */
export class PostgresTierStore implements TierStore {
  private readonly settings: SettingGroup;

  constructor(database: Postgres, revisions?: KnownRevisions) {
    this.settings = new SettingGroup(database, { prefix: TIER_SETTING, revision: "tiers" }, revisions);
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
