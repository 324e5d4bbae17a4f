import type { SqliteMigration } from "./migration.ts";

/** Console sessions, and one-time codes for signing in. */
export const consoleSessions: SqliteMigration = {
  oldestVersion: 14,
  sql: `
  CREATE TABLE console_sessions (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    key_id TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    account_id TEXT NOT NULL,
    user_id TEXT,
    user_agent TEXT,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX console_sessions_key ON console_sessions (key_id, id);

  CREATE TABLE console_codes (hash TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
};
