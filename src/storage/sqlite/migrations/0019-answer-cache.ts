import type { SqliteMigration } from "./migration.ts";

/** How long answers to equal requests of a key are given again. */
export const answerCache: SqliteMigration = {
  oldestVersion: 19,
  sql: `
  ALTER TABLE api_keys ADD COLUMN cache_seconds INTEGER;
  `,
};
