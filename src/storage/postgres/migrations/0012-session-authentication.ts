import type { Migration } from "./migration.ts";

/**
 * When the person of a console session last proved who they are to the OpenID Connect provider, in milliseconds since the epoch. 0:
 * unknown, as for the sessions of earlier versions. Null: the session is not of such a person.
 */
export const sessionAuthentication: Migration = {
  name: "0012-session-authentication",
  oldestVersion: 1,
  sql: `
  ALTER TABLE console_sessions ADD COLUMN authenticated_at bigint;
  UPDATE console_sessions SET authenticated_at = 0
    WHERE key_id IN (SELECT id FROM api_keys WHERE starts_with(name, 'console sign-in '));
  `,
};
