import {
  type FormerTierStore,
  parseFormerTier,
  TIER_SETTING,
} from "../../core/catalog/tiers/former-tiers.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { sql } from "./statements/statement.ts";

/** The tiers in the settings, where versions up to 0.2 have stored them. */
export class SqlFormerTierStore implements FormerTierStore {
  constructor(private readonly database: SqlDatabase) {}

  async listFormerTiers() {
    const rows = await this.database.run(
      sql<{ name: string; value: string }>`SELECT name, value FROM settings
        WHERE substr(name, 1, ${TIER_SETTING.length}::integer) = ${TIER_SETTING}`,
    );
    const sorted = [...rows].sort((a, b) => (a.name < b.name ? -1 : 1));
    return sorted.flatMap(({ value }) => parseFormerTier(value) ?? []);
  }
}
