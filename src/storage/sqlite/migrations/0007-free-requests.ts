import type { SqliteMigration } from "./migration.ts";

/** Requests that count for their account's limit on free models, so that a restart does not reset it. */
export const freeRequests: SqliteMigration = {
  oldestVersion: 7,
  sql: `
  ALTER TABLE generations ADD COLUMN free INTEGER;
  CREATE INDEX generations_free ON generations (created_at) WHERE free = 1;
  `,
};
