import type { SqliteMigration } from "./migration.ts";

/** When the person of a session last proved who they are to the OpenID Connect provider; 0: unknown, null: no such person. */
export const sessionAuthentication: SqliteMigration = {
  oldestVersion: 24,
  sql: `
  ALTER TABLE console_sessions ADD COLUMN authenticated_at INTEGER;
  UPDATE console_sessions SET authenticated_at = 0
    WHERE key_id IN (SELECT id FROM api_keys WHERE name LIKE 'console sign-in %');
  `,
};
