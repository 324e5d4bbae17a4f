import type { SqliteMigration } from "./migration.ts";

/** Lists of the generations of a session: the keyed hash of what the client named. Those without one cost nothing. */
export const generationSessions: SqliteMigration = {
  oldestVersion: 22,
  sql: `
  ALTER TABLE generations ADD COLUMN session_id TEXT;
  CREATE INDEX generations_session ON generations (session_id, id) WHERE session_id IS NOT NULL;
  `,
};
