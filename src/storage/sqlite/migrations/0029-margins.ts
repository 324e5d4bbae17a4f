import type { SqliteMigration } from "./migration.ts";

/**
 * The part of the list price that providers bill to the accounts themselves, so that reports can compute the operator's margin. 0 in sums
 * of earlier versions.
 */
export const margins: SqliteMigration = {
  oldestVersion: 29,
  sql: `
  ALTER TABLE usage_sums ADD COLUMN byok_upstream_cost INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage_tags ADD COLUMN byok_upstream_cost INTEGER NOT NULL DEFAULT 0;
  `,
};
