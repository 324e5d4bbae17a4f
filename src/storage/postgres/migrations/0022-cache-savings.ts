import type { Migration } from "./migration.ts";

/** The saving of reading prompts from vendors' caches, less the extra cost of writing them. Nanodollars. */
export const cacheSavings: Migration = {
  name: "0022-cache-savings",
  oldestVersion: 1,
  sql: `
  -- 0 in what earlier versions have counted.
  ALTER TABLE usage_sums ADD COLUMN cache_saved bigint NOT NULL DEFAULT 0;
  ALTER TABLE usage_tags ADD COLUMN cache_saved bigint NOT NULL DEFAULT 0;
  `,
};
