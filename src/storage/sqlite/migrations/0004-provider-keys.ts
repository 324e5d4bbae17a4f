import type { SqliteMigration } from "./migration.ts";

/** BYOK keys. */
export const providerKeys: SqliteMigration = {
  oldestVersion: 4,
  sql: `
  CREATE TABLE provider_keys (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    name TEXT NOT NULL,
    last_four TEXT NOT NULL,
    -- The id of the master key that encrypted the secret.
    master_key_id TEXT NOT NULL,
    box TEXT NOT NULL,
    place INTEGER NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    -- JSON lists; null for all.
    models TEXT,
    members TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_used_at INTEGER,
    last_error TEXT
  ) STRICT;

  CREATE INDEX provider_keys_account ON provider_keys (account_id);
  CREATE INDEX provider_keys_master ON provider_keys (master_key_id);
  INSERT INTO settings (name, value) VALUES ('provider_key_revision', '0');
  `,
};
