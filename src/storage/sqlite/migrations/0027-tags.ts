import type { SqliteMigration } from "./migration.ts";

/** Tags of requests: an index for finding generations, and sums of usage by hour and tag. Requests without tags have no rows. */
export const tags: SqliteMigration = {
  oldestVersion: 27,
  sql: `
  CREATE TABLE generation_tags (
    tag TEXT NOT NULL,
    -- The generation's.
    id TEXT NOT NULL,
    PRIMARY KEY (tag, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE usage_tags (
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    -- The hour of the day (UTC), or -1 for a whole day.
    hour INTEGER NOT NULL,
    -- A tag; '(other)' for those that are not counted one by one; empty for each request with tags once.
    tag TEXT NOT NULL,
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
    PRIMARY KEY (account_id, day, hour, tag, key_id, user_id, model, provider, outcome)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_tags_day ON usage_tags (day, hour);
  CREATE INDEX usage_tags_tag ON usage_tags (tag, day);
  `,
};
