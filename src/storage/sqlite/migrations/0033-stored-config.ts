import type { SqliteMigration } from "./migration.ts";

/** The revisions of the configuration that the management API sets, and its encrypted secrets. */
export const storedConfig: SqliteMigration = {
  oldestVersion: 32,
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
  -- An earlier version would serve without the stored policy. Of tiers and named routes it has its own copies.
  CREATE TRIGGER config_keeps_earlier_out AFTER INSERT ON config_revisions
    WHEN EXISTS (SELECT 1 FROM json_each(NEW.document) WHERE key NOT IN ('tiers', 'named_routes'))
    BEGIN
      INSERT INTO settings (name, value) VALUES ('oldest_schema', '33')
        ON CONFLICT (name) DO UPDATE SET value = max(CAST(value AS INTEGER), 33);
    END;
  `,
};
