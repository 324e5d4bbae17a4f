import type { Migration } from "./migration.ts";

/** Sums of usage by hour, which later become sums of days. `usage_days` stays for gateways of earlier versions, and with what it has. */
export const usageSums: Migration = {
  name: "0011-usage-sums",
  oldestVersion: 1,
  sql: `
  CREATE TABLE usage_sums (
    -- Empty for none.
    account_id text COLLATE "C" NOT NULL,
    day integer NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    -- The hour of the day (UTC), or -1 for a whole day.
    hour smallint NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    prompt_tokens bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    cached_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    cost bigint NOT NULL,
    upstream_cost bigint NOT NULL,
    PRIMARY KEY (account_id, day, key_id, user_id, model, provider, hour, outcome)
  ) WITH (fillfactor = 70);
  CREATE INDEX usage_sums_day ON usage_sums (day, hour);
  CREATE INDEX usage_sums_key ON usage_sums (key_id, day);
  CREATE INDEX usage_sums_user ON usage_sums (user_id, day);
  CREATE INDEX usage_sums_model ON usage_sums (model, day);
  CREATE INDEX usage_sums_provider ON usage_sums (provider, day);

  -- How long generations took: their numbers by the time to the first token and to the end. The key is that of usage_sums.
  CREATE TABLE usage_times (
    account_id text COLLATE "C" NOT NULL,
    day integer NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    hour smallint NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    ${listBuckets("latency")},
    ${listBuckets("duration")},
    PRIMARY KEY (account_id, day, key_id, user_id, model, provider, hour, outcome)
  ) WITH (fillfactor = 70);
  CREATE INDEX usage_times_day ON usage_times (day, hour);
  CREATE INDEX usage_times_key ON usage_times (key_id, day);
  `,
};

function listBuckets(name: string): string {
  return Array.from({ length: 32 }, (_, bucket) => `${name}_${bucket} bigint NOT NULL`).join(", ");
}
