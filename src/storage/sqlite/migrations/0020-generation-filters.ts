import type { SqliteMigration } from "./migration.ts";

/**
 * The fields by which lists of generations are filtered, in the order of ids, so that the records themselves are not read. Generations of
 * earlier versions lack both columns; they are filled once from the records.
 */
export const generationFilters: SqliteMigration = {
  oldestVersion: 20,
  sql: `
  -- Empty for none.
  ALTER TABLE generations ADD COLUMN model TEXT;
  ALTER TABLE generations ADD COLUMN provider TEXT;
  ALTER TABLE generations ADD COLUMN error_type TEXT;

  CREATE INDEX generations_facts ON generations (id, outcome, account_id, key_id, user_id,
    coalesce(model, record ->> 'model', record ->> 'requestedModel'), coalesce(provider, record ->> 'provider'));
  DROP INDEX generations_not_completed;
  CREATE INDEX generations_not_completed ON generations (id, outcome, account_id, key_id, user_id,
    coalesce(model, record ->> 'model', record ->> 'requestedModel'), coalesce(provider, record ->> 'provider'),
    coalesce(error_type, record ->> 'error'))
    WHERE outcome <> 'completed' AND outcome <> 'open';

  -- Finds the days of a user, model or provider. Few rows are added to the table; the many changes of its rows leave the indexes alone.
  CREATE INDEX usage_days_user ON usage_days (user_id, day);
  CREATE INDEX usage_days_model ON usage_days (model, day);
  CREATE INDEX usage_days_provider ON usage_days (provider, day);
  `,
};
