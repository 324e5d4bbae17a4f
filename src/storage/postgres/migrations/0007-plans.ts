import type { Migration } from "./migration.ts";

/** The plans of accounts, which pricing rules refer to. */
export const plans: Migration = {
  name: "0007-plans",
  oldestVersion: 1,
  sql: `
  ALTER TABLE accounts ADD COLUMN plan text;
  `,
};
