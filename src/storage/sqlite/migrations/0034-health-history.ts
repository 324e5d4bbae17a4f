import type { SqliteMigration } from "./migration.ts";

/** The outcomes of attempts at providers, and their incidents. */
export const healthHistory: SqliteMigration = {
  oldestVersion: 32,
  sql: `
  -- Sums of all processes. Each attempt counts once in each span, whose buckets differ in length.
  CREATE TABLE provider_outcomes (
    provider TEXT NOT NULL,
    span TEXT NOT NULL,
    began_at INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    rate_limited INTEGER NOT NULL,
    key_refused INTEGER NOT NULL,
    PRIMARY KEY (provider, span, began_at)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE provider_incidents (
    id TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    level TEXT NOT NULL,
    models TEXT NOT NULL,
    began_at INTEGER NOT NULL,
    -- NULL while it lasts.
    ended_at INTEGER,
    end_reason TEXT,
    seen_at INTEGER NOT NULL,
    -- The gateways that see it, with the time of their last report.
    observers TEXT NOT NULL,
    failures TEXT NOT NULL,
    sample TEXT,
    failed_attempts INTEGER NOT NULL,
    saved_requests INTEGER NOT NULL,
    failed_requests INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX provider_incidents_provider ON provider_incidents (provider, id);
  CREATE UNIQUE INDEX provider_incidents_open ON provider_incidents (provider) WHERE ended_at IS NULL;
  `,
};
