import type { Migration } from "./migration.ts";

/** Tags of requests: an index for finding generations, and sums of usage by hour and tag. Requests without tags have no rows. */
export const tags: Migration = {
  name: "0015-tags",
  oldestVersion: 1,
  sql: `
  -- Not partitioned, because earlier versions create and drop the partitions of days.
  CREATE TABLE generation_tags (
    tag text COLLATE "C" NOT NULL,
    -- Day and id of the generation.
    day integer NOT NULL,
    id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tag, day, id)
  );
  -- Finds the rows of days whose generations were deleted.
  CREATE INDEX generation_tags_day ON generation_tags (day);

  CREATE TABLE usage_tags (
    account_id text COLLATE "C" NOT NULL,
    day integer NOT NULL,
    -- The hour of the day (UTC), or -1 for a whole day.
    hour smallint NOT NULL,
    -- A tag; '(other)' for those that are not counted one by one; empty for each request with tags once.
    tag text COLLATE "C" NOT NULL,
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
    PRIMARY KEY (account_id, day, hour, tag, key_id, user_id, model, provider, outcome)
  ) WITH (fillfactor = 70);
  CREATE INDEX usage_tags_day ON usage_tags (day, hour);
  CREATE INDEX usage_tags_tag ON usage_tags (tag, day);
  `,
};
