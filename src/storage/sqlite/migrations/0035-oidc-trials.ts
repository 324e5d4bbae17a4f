import type { SqliteMigration } from "./migration.ts";

/** Trial sign-ins with settings of OpenID Connect that are not in force. They are kept for minutes. */
export const oidcTrials: SqliteMigration = {
  oldestVersion: 32,
  sql: `
  CREATE TABLE oidc_trials (
    id TEXT PRIMARY KEY,
    state_hash TEXT NOT NULL UNIQUE,
    config_hash TEXT NOT NULL,
    session_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    -- Null once the trial has ended.
    sealed TEXT,
    outcome TEXT,
    succeeded INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
};
