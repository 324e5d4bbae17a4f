import type { SqliteMigration } from "./migration.ts";

/** E-mail addresses of users, in lower case, and the operator's own ids of accounts. */
export const accountAliases: SqliteMigration = {
  oldestVersion: 26,
  sql: `
  ALTER TABLE accounts ADD COLUMN email TEXT;
  ALTER TABLE accounts ADD COLUMN external_id TEXT;
  CREATE UNIQUE INDEX accounts_email ON accounts (email) WHERE email IS NOT NULL;
  CREATE UNIQUE INDEX accounts_external_id ON accounts (external_id) WHERE external_id IS NOT NULL;
  `,
};
