import type { SqliteMigration } from "./migration.ts";

/** Lists of the generations of a session, by the keyed hash of the client's name for it. Generations without a session cost nothing. */
export const generationSessions: SqliteMigration = {
  oldestVersion: 22,
  sql: `
  ALTER TABLE generations ADD COLUMN session_id TEXT;
  CREATE INDEX generations_session ON generations (session_id, id) WHERE session_id IS NOT NULL;
  `,
};
