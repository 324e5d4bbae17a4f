import type { Migration } from "./migration.ts";

/** How long answers to equal requests of a key are given again. */
export const answerCache: Migration = {
  name: "0008-answer-cache",
  oldestVersion: 1,
  sql: `
  ALTER TABLE api_keys ADD COLUMN cache_seconds bigint;
  `,
};
