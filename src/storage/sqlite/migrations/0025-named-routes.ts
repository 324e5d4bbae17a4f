import type { SqliteMigration } from "./migration.ts";

/** The versions of named routes. The operator's routes have an empty account. */
export const namedRoutes: SqliteMigration = {
  oldestVersion: 25,
  sql: `
  CREATE TABLE named_routes (
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    definition TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, name, version)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO settings (name, value) VALUES ('named_route_revision', '0');
  `,
};
