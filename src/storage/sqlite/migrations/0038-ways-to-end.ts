import type { SqliteMigration } from "./migration.ts";

/**
 * What the page of a request and the usage reports say of each way to end: repeated answers and what they saved, sums by client, and
 * times below 10 ms.
 */
export const waysToEnd: SqliteMigration = {
  oldestVersion: 32,
  sql: `
  -- What answers had cost that were returned again without asking a provider. Nanodollars; 0 in sums of earlier versions.
  ALTER TABLE usage_sums ADD COLUMN answers_saved INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage_tags ADD COLUMN answers_saved INTEGER NOT NULL DEFAULT 0;

  -- Sums of the requests whose clients are known.
  CREATE TABLE usage_clients (
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    -- The hour of the day (UTC), or -1 for a whole day.
    hour INTEGER NOT NULL,
    -- A family of clients, of which there are few.
    client TEXT NOT NULL,
    key_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    outcome TEXT NOT NULL,
    requests INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    upstream_cost INTEGER NOT NULL,
    byok_upstream_cost INTEGER NOT NULL,
    cache_saved INTEGER NOT NULL,
    answers_saved INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, hour, client, key_id, user_id, model, provider, outcome)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_clients_day ON usage_clients (day, hour);
  CREATE INDEX usage_clients_client ON usage_clients (client, day);

  -- The numbers of times below 10 ms by their millisecond. The first bucket of usage_times counts them as well.
  ${addExactTimes()}

  -- The generation whose answer was returned again; null for other generations, and in those of earlier versions.
  ALTER TABLE generations ADD COLUMN replay_of TEXT;
  CREATE INDEX generations_cached ON generations (id, outcome, account_id, key_id, user_id,
    coalesce(model, record ->> 'model', record ->> 'requestedModel'), coalesce(provider, record ->> 'provider'))
    WHERE replay_of IS NOT NULL;
  `,
};

function addExactTimes(): string {
  const columns = ["latency", "duration"].flatMap((name) =>
    Array.from({ length: 10 }, (_, ms) => `${name}_of_${ms}_ms`),
  );
  const add = (column: string) => `ALTER TABLE usage_times ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0;`;
  return columns.map(add).join("\n  ");
}
