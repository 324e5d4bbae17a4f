import type { SqliteMigration } from "./migration.ts";

/** Bodies of requests and answers, for keys with a prompt log. */
export const promptLog: SqliteMigration = {
  oldestVersion: 11,
  sql: `
  ALTER TABLE api_keys ADD COLUMN prompt_log_seconds INTEGER;

  CREATE TABLE prompt_log (
    generation_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- The data key of the ciphertext, sealed under this master key.
    master_key_id TEXT NOT NULL,
    sealed_key TEXT NOT NULL,
    ciphertext BLOB NOT NULL
  ) STRICT;

  CREATE INDEX prompt_log_expires ON prompt_log (expires_at);
  CREATE INDEX prompt_log_master ON prompt_log (master_key_id);
  `,
};
