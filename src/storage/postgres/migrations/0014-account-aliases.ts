import type { Migration } from "./migration.ts";

/** E-mail addresses of users, in lower case, and the operator's own ids of accounts. */
export const accountAliases: Migration = {
  name: "0014-account-aliases",
  oldestVersion: 1,
  sql: `
  ALTER TABLE accounts ADD COLUMN email text;
  ALTER TABLE accounts ADD COLUMN external_id text;
  CREATE UNIQUE INDEX accounts_email ON accounts (email) WHERE email IS NOT NULL;
  CREATE UNIQUE INDEX accounts_external_id ON accounts (external_id) WHERE external_id IS NOT NULL;
  `,
};
