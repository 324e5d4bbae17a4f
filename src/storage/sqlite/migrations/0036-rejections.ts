import type { SqliteMigration } from "./migration.ts";

/** Requests that were rejected before they became generations. */
export const rejections: SqliteMigration = {
  oldestVersion: 32,
  sql: `
  CREATE TABLE rejections (
    -- The id of the request, which begins with its time; of the last one of several.
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    -- NULL for a path or method that no client API has.
    api TEXT,
    method TEXT,
    path TEXT,
    account_id TEXT,
    user_id TEXT,
    key_id TEXT,
    -- A keyed hash of a key that the gateway does not know.
    key_fingerprint TEXT,
    address_hash TEXT,
    model TEXT,
    code TEXT NOT NULL,
    status INTEGER NOT NULL,
    -- NULL under zero data retention.
    message TEXT,
    field TEXT,
    limit_source TEXT,
    limit_kind TEXT,
    limit_value INTEGER,
    budget_id TEXT,
    client TEXT,
    client_version TEXT,
    user_agent TEXT,
    -- The number of requests that the row stands for.
    count INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX rejections_account ON rejections (account_id, id);
  `,
};
