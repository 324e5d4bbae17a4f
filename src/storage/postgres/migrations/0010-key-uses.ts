import type { Migration } from "./migration.ts";

/**
 * The hour in which each API key was last used, in milliseconds since the epoch. Not named `last_used_at`, because an earlier version joins
 * this table with one that has a column of that name.
 */
export const keyUses: Migration = {
  name: "0010-key-uses",
  oldestVersion: 1,
  sql: "ALTER TABLE api_keys ADD COLUMN used_at bigint",
};
