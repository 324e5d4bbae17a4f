import type { Migration } from "./migration.ts";

/** Console sessions, and one-time codes for signing in. Times are milliseconds since the epoch. */
export const consoleSessions: Migration = {
  name: "0005-console-sessions",
  oldestVersion: 1,
  sql: `
  CREATE TABLE console_sessions (
    id text COLLATE "C" PRIMARY KEY,
    hash text NOT NULL UNIQUE,
    key_id text NOT NULL,
    key_hash text NOT NULL,
    account_id text NOT NULL,
    user_id text,
    user_agent text,
    created_at bigint NOT NULL,
    last_used_at bigint NOT NULL,
    expires_at bigint NOT NULL
  );
  CREATE INDEX console_sessions_key ON console_sessions (key_id, id);

  CREATE TABLE console_codes (hash text PRIMARY KEY, expires_at bigint NOT NULL);
  `,
};
