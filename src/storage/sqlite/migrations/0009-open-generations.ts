import type { SqliteMigration } from "./migration.ts";

/** The gateway that runs an open generation, and until when it may: null once the generation has ended. */
export const openGenerations: SqliteMigration = {
  oldestVersion: 9,
  sql: `
  ALTER TABLE generations ADD COLUMN gateway_id TEXT;
  ALTER TABLE generations ADD COLUMN lease_ends_at INTEGER;
  `,
};
