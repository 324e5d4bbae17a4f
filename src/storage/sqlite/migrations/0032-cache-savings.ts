import type { SqliteMigration } from "./migration.ts";

/**
 * What reading prompts from vendors' caches has saved, less what writing them has cost more. Nanodollars; 0 in what earlier versions have
 * counted.
 */
export const cacheSavings: SqliteMigration = {
  oldestVersion: 32,
  sql: `
  ALTER TABLE usage_sums ADD COLUMN cache_saved INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage_tags ADD COLUMN cache_saved INTEGER NOT NULL DEFAULT 0;
  `,
};
