import type { Migration } from "./migration.ts";

/** Trial sign-ins with settings of OpenID Connect that are not in force. They are kept for minutes. */
export const oidcTrials: Migration = {
  name: "0025-oidc-trials",
  oldestVersion: 1,
  sql: `
  CREATE TABLE oidc_trials (
    id text PRIMARY KEY,
    state_hash text NOT NULL UNIQUE,
    config_hash text NOT NULL,
    session_id text NOT NULL,
    key_id text NOT NULL,
    -- Null once the trial has ended.
    sealed text,
    outcome text,
    succeeded bigint NOT NULL,
    expires_at bigint NOT NULL
  );
  `,
};
