import type { Database } from "bun:sqlite";
import {
  formatStoredTier,
  parseStoredTier,
  type StoredTier,
  TIER_SETTING,
  type TierStore,
} from "../../core/catalog/tier-store.ts";

/** Tiers in the settings of SQLite. Every change raises the revision in the same transaction. */
export class SqliteTierStore implements TierStore {
  private readonly findRevision;

  constructor(private readonly database: Database) {
    this.findRevision = database.query<{ value: string }, []>(
      "SELECT value FROM settings WHERE name = 'tier_revision'",
    );
  }

  async tierRevision() {
    return Number(this.findRevision.get()?.value ?? 0);
  }

  async listTiers() {
    const rows = this.database
      .query<{ value: string }, [string, string]>(
        "SELECT value FROM settings WHERE name >= ? AND name < ? ORDER BY name",
      )
      .all(TIER_SETTING, AFTER_TIERS);
    return rows.flatMap(({ value }) => parseStoredTier(value) ?? []);
  }

  async putTier(stored: StoredTier) {
    this.change(() => this.database.query(PUT).run(TIER_SETTING + stored.tier.id, formatStoredTier(stored)));
  }

  async deleteTier(id: string) {
    return this.change(() => this.database.query(DELETE).run(TIER_SETTING + id)).changes === 1;
  }

  private change<Result>(work: () => Result): Result {
    const change = this.database.transaction(() => {
      this.database.query(RAISE).run();
      return work();
    });
    return change.immediate();
  }
}

/** The names of all tiers sort before it: a character after the space of their beginning. */
const AFTER_TIERS = "tier!";

const PUT =
  "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value";
const DELETE = "DELETE FROM settings WHERE name = ?";
const RAISE =
  "INSERT INTO settings (name, value) VALUES ('tier_revision', 1) ON CONFLICT DO UPDATE SET value = value + 1";
