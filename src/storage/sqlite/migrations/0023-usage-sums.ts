import type { SqliteMigration } from "./migration.ts";

/** Sums of usage by hour, which later become sums of days. `usage_days` stays with what it has. */
export const usageSums: SqliteMigration = {
  oldestVersion: 23,
  sql: `
  CREATE TABLE usage_sums (
    -- Empty for none.
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    -- The hour of the day (UTC), or -1 for a whole day.
    hour INTEGER NOT NULL,
    outcome TEXT NOT NULL,
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
    PRIMARY KEY (account_id, day, key_id, user_id, model, provider, hour, outcome)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX usage_sums_day ON usage_sums (day, hour);
  CREATE INDEX usage_sums_key ON usage_sums (key_id, day);
  CREATE INDEX usage_sums_user ON usage_sums (user_id, day);
  CREATE INDEX usage_sums_model ON usage_sums (model, day);
  CREATE INDEX usage_sums_provider ON usage_sums (provider, day);

  -- How long generations took: their numbers by the time to the first token and to the end. The key is that of usage_sums.
  CREATE TABLE usage_times (
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    hour INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    ${listBuckets("latency")},
    ${listBuckets("duration")},
    PRIMARY KEY (account_id, day, key_id, user_id, model, provider, hour, outcome)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_times_day ON usage_times (day, hour);
  CREATE INDEX usage_times_key ON usage_times (key_id, day);
  `,
};

function listBuckets(name: string): string {
  return Array.from({ length: 32 }, (_, bucket) => `${name}_${bucket} INTEGER NOT NULL`).join(", ");
}
