import type { SqliteMigration } from "./migration.ts";

/** The saving of reading prompts from vendors' caches, less the extra cost of writing them. Nanodollars; 0 in sums of earlier versions. */
export const cacheSavings: SqliteMigration = {
  oldestVersion: 32,
  sql: `
  ALTER TABLE usage_sums ADD COLUMN cache_saved INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage_tags ADD COLUMN cache_saved INTEGER NOT NULL DEFAULT 0;
  `,
};
