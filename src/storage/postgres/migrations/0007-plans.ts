import type { Migration } from "./migration.ts";

/** The plans of accounts, by which pricing rules set what they pay. */
export const plans: Migration = {
  name: "0007-plans",
  oldestVersion: 1,
  sql: `
  ALTER TABLE accounts ADD COLUMN plan text;
  `,
};
