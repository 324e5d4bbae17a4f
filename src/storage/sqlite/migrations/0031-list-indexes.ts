import type { SqliteMigration } from "./migration.ts";

/** Indexes for lists of keys and accounts, so that no list reads the whole table. */
export const listIndexes: SqliteMigration = {
  oldestVersion: 31,
  sql: `
  CREATE INDEX accounts_kind ON accounts (kind, id);
  CREATE INDEX accounts_name ON accounts (lower(name));
  CREATE INDEX api_keys_name ON api_keys (lower(name));
  CREATE INDEX api_keys_user ON api_keys (user_id, id) WHERE user_id IS NOT NULL;
  CREATE INDEX api_keys_expiry ON api_keys (expires_at, id) WHERE expires_at IS NOT NULL;
  `,
};
