import type { Migration } from "./migration.ts";

/** The versions of named routes. The operator's routes have an empty account. Times are milliseconds since the epoch. */
export const namedRoutes: Migration = {
  name: "0013-named-routes",
  oldestVersion: 1,
  sql: `
  CREATE TABLE named_routes (
    account_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    definition text NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (account_id, name, version)
  );
  INSERT INTO revisions (name, revision) VALUES ('named_routes', 0);
  `,
};
