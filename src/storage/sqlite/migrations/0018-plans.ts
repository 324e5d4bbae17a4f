import type { SqliteMigration } from "./migration.ts";

/** The groups of accounts that pay the same prices. */
export const plans: SqliteMigration = {
  oldestVersion: 18,
  sql: `
  ALTER TABLE accounts ADD COLUMN plan TEXT;
  `,
};
