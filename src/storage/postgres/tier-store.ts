import {
  formatStoredTier,
  parseStoredTier,
  type StoredTier,
  TIER_SETTING,
  type TierStore,
} from "../../core/catalog/tier-store.ts";
import type { Postgres, SqlRunner } from "./client.ts";
import type { KnownRevisions } from "./revision.ts";
import { readInteger } from "./values.ts";

/** Tiers in the settings of PostgreSQL. Every change raises the revision in the same transaction. */
export class PostgresTierStore implements TierStore {
  constructor(
    private readonly database: Postgres,
    private readonly revisions?: KnownRevisions,
  ) {}

  async tierRevision() {
    // All revisions are read at once. That of tiers exists from the first change on.
    if ((this.revisions?.revisionOf("catalog") ?? null) !== null)
      return this.revisions?.revisionOf("tiers") ?? 0;
    const [row] = await this.database.run<{ revision: string }>(
      "SELECT revision FROM revisions WHERE name = 'tiers'",
    );
    return row === undefined ? 0 : readInteger(row.revision);
  }

  async listTiers() {
    const rows = await this.database.run<{ value: string }>(
      `SELECT value FROM settings WHERE starts_with(name, $1) ORDER BY name COLLATE "C"`,
      [TIER_SETTING],
    );
    return rows.flatMap(({ value }) => parseStoredTier(value) ?? []);
  }

  async putTier(stored: StoredTier) {
    await this.change((sql) =>
      sql.run(
        "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [TIER_SETTING + stored.tier.id, formatStoredTier(stored)],
      ),
    );
  }

  async deleteTier(id: string) {
    const rows = await this.change((sql) =>
      sql.run("DELETE FROM settings WHERE name = $1 RETURNING name", [TIER_SETTING + id]),
    );
    return rows.length === 1;
  }

  private change<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.database.transaction(async (sql) => {
      await sql.run(
        "INSERT INTO revisions (name, revision) VALUES ('tiers', 1) ON CONFLICT (name) DO UPDATE SET revision = revisions.revision + 1",
      );
      return work(sql);
    });
  }
}
