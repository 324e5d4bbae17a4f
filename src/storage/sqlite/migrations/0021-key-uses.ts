import type { SqliteMigration } from "./migration.ts";

/** When each API key was used last: the beginning of the hour. */
export const keyUses: SqliteMigration = {
  oldestVersion: 21,
  sql: `
  ALTER TABLE api_keys ADD COLUMN used_at INTEGER;
  `,
};
