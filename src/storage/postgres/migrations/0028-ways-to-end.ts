import type { Migration } from "./migration.ts";

/**
 * What the page of a request and the usage reports say of each way to end: sums by client, what repeated answers saved, and times below
 * 10 ms.
 */
export const waysToEnd: Migration = {
  name: "0028-ways-to-end",
  oldestVersion: 1,
  sql: `
  -- What answers had cost that were returned again without asking a provider. Nanodollars; 0 in sums of earlier versions.
  ALTER TABLE usage_sums ADD COLUMN answers_saved bigint NOT NULL DEFAULT 0;
  ALTER TABLE usage_tags ADD COLUMN answers_saved bigint NOT NULL DEFAULT 0;

  -- Sums of the requests whose clients are known.
  CREATE TABLE usage_clients (
    account_id text COLLATE "C" NOT NULL,
    day integer NOT NULL,
    -- The hour of the day (UTC), or -1 for a whole day.
    hour smallint NOT NULL,
    -- A family of clients, of which there are few.
    client text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
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
    byok_upstream_cost bigint NOT NULL,
    cache_saved bigint NOT NULL,
    answers_saved bigint NOT NULL,
    PRIMARY KEY (account_id, day, hour, client, key_id, user_id, model, provider, outcome)
  ) WITH (fillfactor = 70);
  CREATE INDEX usage_clients_day ON usage_clients (day, hour);
  CREATE INDEX usage_clients_client ON usage_clients (client, day);

  -- The numbers of times below 10 ms by their millisecond. The first bucket of usage_times counts them as well.
  ${addExactTimes()}
  `,
};

function addExactTimes(): string {
  const columns = ["latency", "duration"].flatMap((name) =>
    Array.from({ length: 10 }, (_, ms) => `${name}_of_${ms}_ms`),
  );
  return `ALTER TABLE usage_times
    ${columns.map((column) => `ADD COLUMN ${column} bigint NOT NULL DEFAULT 0`).join(", ")};`;
}
