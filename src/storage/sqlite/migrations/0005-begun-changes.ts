import type { SqliteMigration } from "./migration.ts";

/** Changes that have begun. A change that a crash cut off gets its audit entry at the next start. */
export const begunChanges: SqliteMigration = {
  oldestVersion: 5,
  sql: `
  CREATE TABLE announced_changes (
    note INTEGER PRIMARY KEY,
    -- The audit entry, as JSON.
    draft TEXT NOT NULL
  ) STRICT;
  `,
};
