import type { Migration } from "./migration.ts";

/** The fields by which lists of generations are filtered. */
export const generationFilters: Migration = {
  name: "0009-generation-filters",
  oldestVersion: 1,
  sql: `
  -- Keyed hash of the session that the client named; null for none.
  ALTER TABLE generations ADD COLUMN session_id text COLLATE "C";
  CREATE INDEX generations_session ON generations (session_id, day, id) WHERE session_id IS NOT NULL;

  -- Finds the days of a user, model or provider. Few rows are added to the table; the many changes of its rows leave the indexes alone.
  CREATE INDEX usage_days_user ON usage_days (user_id, day);
  CREATE INDEX usage_days_model ON usage_days (model, day);
  CREATE INDEX usage_days_provider ON usage_days (provider, day);
  `,
};
