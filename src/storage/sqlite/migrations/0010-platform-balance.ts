import type { SqliteMigration } from "./migration.ts";

/** Removes the platform's balance, whose row every transfer updated. It is derived from the others. */
export const platformBalance: SqliteMigration = {
  oldestVersion: 10,
  sql: `
  DELETE FROM balances WHERE account_id = 'house';
  `,
};
