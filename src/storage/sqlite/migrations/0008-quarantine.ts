import type { SqliteMigration } from "./migration.ts";

/** Usage records whose content the store rejects. */
export const quarantine: SqliteMigration = {
  oldestVersion: 8,
  sql: `
  CREATE TABLE quarantined_records (
    id TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    quarantined_at INTEGER NOT NULL,
    -- JSON that may be invalid as a record.
    record TEXT NOT NULL
  ) STRICT;
  `,
};
