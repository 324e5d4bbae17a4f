import type { SqliteMigration } from "./migration.ts";

/** The revisions of the configuration that the management API sets, and its encrypted secrets. */
export const storedConfig: SqliteMigration = {
  oldestVersion: 33,
  sql: `
  CREATE TABLE config_revisions (
    revision INTEGER PRIMARY KEY,
    document TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    changed TEXT NOT NULL
  ) STRICT;
  CREATE TABLE config_secrets (
    id TEXT PRIMARY KEY,
    last_four TEXT NOT NULL,
    master_key_id TEXT NOT NULL,
    ciphertext TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO settings (name, value) VALUES ('config_revision', '0');
  `,
};
