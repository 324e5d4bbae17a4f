import type { Migration } from "./migration.ts";

/** The users of people who sign in through an OpenID Connect provider. Times are milliseconds since the epoch. */
export const identities: Migration = {
  name: "0006-identities",
  oldestVersion: 1,
  sql: `
  CREATE TABLE identities (
    issuer text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    user_id text NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (issuer, subject)
  );
  `,
};
