import type { SqliteMigration } from "./migration.ts";

/** The period in which a key's spending limit starts again; NULL for a limit over its lifetime. */
export const spendLimitPeriods: SqliteMigration = {
  oldestVersion: 28,
  sql: `
  ALTER TABLE api_keys ADD COLUMN spend_limit_period TEXT;
  `,
};
