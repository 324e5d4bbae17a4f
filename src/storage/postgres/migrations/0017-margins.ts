import type { Migration } from "./migration.ts";

/** The part of the list price that providers bill to the accounts themselves, so that reports can compute the operator's margin. */
export const margins: Migration = {
  name: "0017-margins",
  oldestVersion: 1,
  sql: `
  -- 0 in what earlier versions have counted.
  ALTER TABLE usage_sums ADD COLUMN byok_upstream_cost bigint NOT NULL DEFAULT 0;
  ALTER TABLE usage_tags ADD COLUMN byok_upstream_cost bigint NOT NULL DEFAULT 0;
  `,
};
