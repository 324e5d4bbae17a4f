import type { SqliteMigration } from "./migration.ts";

/** Removes the trigger that recorded grants: it ran for every transfer, although few are grants. The writer of transfers records them. */
export const grantsByWriter: SqliteMigration = {
  oldestVersion: 6,
  sql: `
  DROP TRIGGER transfers_limited;
  `,
};
