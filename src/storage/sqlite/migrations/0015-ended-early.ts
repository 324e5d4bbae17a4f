import type { SqliteMigration } from "./migration.ts";

/** Lists of generations that did not complete, newest first. */
export const endedEarly: SqliteMigration = {
  oldestVersion: 15,
  sql: `
  CREATE INDEX generations_ended_early ON generations (id, outcome)
    WHERE outcome IN ('failed', 'cancelled', 'interrupted');
  `,
};
