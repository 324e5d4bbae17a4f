import type { SqliteMigration } from "./migration.ts";

/** The users of people who sign in through an OpenID Connect provider. */
export const identities: SqliteMigration = {
  oldestVersion: 16,
  sql: `
  CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) STRICT, WITHOUT ROWID;
  `,
};
