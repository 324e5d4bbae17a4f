import type { Migration } from "./migration.ts";

/** Requests that were rejected before they became generations. Gateways of earlier versions neither write nor read them. */
export const rejections: Migration = {
  name: "0026-rejections",
  oldestVersion: 1,
  sql: `
  CREATE TABLE rejections (
    -- The id of the request, which begins with its time; of the last one of several.
    id text COLLATE "C" PRIMARY KEY,
    at bigint NOT NULL,
    -- NULL for a path or method that no client API has.
    api text,
    method text,
    path text,
    account_id text COLLATE "C",
    user_id text COLLATE "C",
    key_id text COLLATE "C",
    -- A keyed hash of a key that the gateway does not know.
    key_fingerprint text,
    address_hash text,
    model text,
    code text NOT NULL,
    status bigint NOT NULL,
    -- NULL under zero data retention.
    message text,
    field text,
    limit_source text,
    limit_kind text,
    limit_value bigint,
    budget_id text,
    client text,
    client_version text,
    user_agent text,
    -- The number of requests that the row stands for.
    count bigint NOT NULL
  );
  CREATE INDEX rejections_account ON rejections (account_id, id);
  `,
};
