import type { SqliteMigration } from "./migration.ts";

/** Grants that expire, and sums of usage by day. */
export const grantsAndUsageDays: SqliteMigration = {
  oldestVersion: 3,
  sql: `
  -- Grants that expire, as long as one of the account's has not ended. The ledger is read from the first of them on to compute
  -- what is left of each.
  CREATE TABLE limited_grants (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- Null until the grant has ended.
    ended_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX limited_grants_open ON limited_grants (expires_at) WHERE ended_at IS NULL;
  CREATE INDEX limited_grants_account ON limited_grants (account_id, place);
  -- Applies to the grants of all processes.
  CREATE TRIGGER transfers_limited AFTER INSERT ON transfers WHEN NEW.expires_at IS NOT NULL
    BEGIN INSERT INTO limited_grants (id, account_id, place, expires_at)
      VALUES (NEW.id, NEW.to_account, NEW.place, NEW.expires_at); END;

  -- Finds an account's credits without reading the costs of its generations.
  CREATE INDEX transfers_credits_to ON transfers (to_account, place) WHERE kind <> 'usage';
  CREATE INDEX transfers_credits_from ON transfers (from_account, place) WHERE kind <> 'usage';

  -- Sums of generations by the day (UTC) of their requests. Reports and spending limits read this and never single
  -- generations.
  CREATE TABLE usage_days (
    -- Days since the epoch.
    day INTEGER NOT NULL,
    -- Empty for none.
    account_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    requests INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    -- Nanodollars.
    cost INTEGER NOT NULL,
    upstream_cost INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, key_id, user_id, model, provider)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX usage_days_day ON usage_days (day);
  CREATE INDEX usage_days_key ON usage_days (key_id, day);
  `,
};
