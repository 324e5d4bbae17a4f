import type { SqliteMigration } from "./migration.ts";

/** Replaces the index of generations that did not complete: SQLite built a tree of the list in its condition for every row that was saved. */
export const notCompleted: SqliteMigration = {
  oldestVersion: 17,
  sql: `
  DROP INDEX generations_ended_early;
  CREATE INDEX generations_not_completed ON generations (id, outcome)
    WHERE outcome <> 'completed' AND outcome <> 'open';
  `,
};
