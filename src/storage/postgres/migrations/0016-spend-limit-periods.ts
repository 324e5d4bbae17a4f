import type { Migration } from "./migration.ts";

/** The period in which a key's spending limit starts again; NULL for a limit over its lifetime. */
export const spendLimitPeriods: Migration = {
  name: "0016-spend-limit-periods",
  oldestVersion: 1,
  sql: `
  ALTER TABLE api_keys ADD COLUMN spend_limit_period text;
  `,
};
