import type { Migration } from "./migration.ts";

/** Accounts, keys, settings, the audit log, and everything else that is not about generations. Times are milliseconds since the epoch. */
export const accounts: Migration = {
  name: "0001-accounts",
  oldestVersion: 1,
  sql: `
  -- A number for each group of tables, raised by every change. Its row is also the lock under which the group is changed.
  CREATE TABLE revisions (name text PRIMARY KEY, revision bigint NOT NULL);
  INSERT INTO revisions (name, revision) VALUES ('accounts', 0), ('keys', 0), ('provider_keys', 0), ('catalog', 0);

  CREATE TABLE settings (name text PRIMARY KEY, value text NOT NULL);

  CREATE TABLE accounts (
    id text COLLATE "C" PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('user', 'organization')),
    name text NOT NULL,
    -- Nanodollars below zero; null for no bound.
    overdraft bigint,
    monthly_limit bigint,
    -- JSON objects; the rate limit is null for the configured one.
    policy text NOT NULL,
    rate_limit text,
    created_at bigint NOT NULL,
    closed_at bigint
  );
  CREATE INDEX accounts_kind ON accounts (kind, id);
  INSERT INTO accounts (id, kind, name, policy, created_at) VALUES ('acct_default', 'user', 'default', '{}', 0);

  CREATE TABLE members (
    organization_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'billing', 'member')),
    daily_limit bigint,
    created_at bigint NOT NULL,
    PRIMARY KEY (organization_id, user_id)
  );
  CREATE INDEX members_user ON members (user_id);

  CREATE TABLE api_keys (
    id text COLLATE "C" PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('inference', 'management')),
    account_id text NOT NULL,
    user_id text,
    name text NOT NULL,
    hash text NOT NULL UNIQUE,
    hint text NOT NULL,
    spend_limit bigint,
    -- A JSON list; null for all.
    models text,
    -- A JSON object; null for the configured limit.
    rate_limit text,
    prompt_log_seconds bigint,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint
  );
  CREATE INDEX api_keys_account ON api_keys (account_id, id);

  CREATE TABLE provider_keys (
    id text COLLATE "C" PRIMARY KEY,
    account_id text NOT NULL,
    provider text COLLATE "C" NOT NULL,
    name text NOT NULL,
    last_four text NOT NULL,
    -- The id of the master key that encrypted the secret.
    master_key_id text NOT NULL,
    ciphertext text NOT NULL,
    -- Keys of one provider are tried in this order.
    position bigint NOT NULL,
    enabled boolean NOT NULL,
    -- JSON lists; null for all.
    models text,
    members text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    last_used_at bigint,
    last_error text
  );
  CREATE INDEX provider_keys_account ON provider_keys (account_id);
  CREATE INDEX provider_keys_master ON provider_keys (master_key_id);

  CREATE FUNCTION reject_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME; END $$;

  CREATE TABLE audit_log (
    place bigint PRIMARY KEY,
    at bigint NOT NULL,
    key_id text,
    user_id text,
    action text NOT NULL,
    account_id text,
    target text,
    request_id text,
    -- A JSON object.
    changes text NOT NULL,
    previous_hash text NOT NULL,
    hash text NOT NULL
  );
  CREATE INDEX audit_log_account ON audit_log (account_id, place);
  CREATE TRIGGER audit_log_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    EXECUTE FUNCTION reject_change();

  -- One row: the lock under which entries are appended.
  CREATE TABLE audit_lock (held boolean PRIMARY KEY CHECK (held));
  INSERT INTO audit_lock VALUES (true);

  -- Changes that have begun. A change that a crash cut off gets its audit entry later.
  CREATE TABLE begun_changes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The gateway or command that makes the change.
    owner text NOT NULL,
    -- By the clock of the database.
    begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The audit entry, as JSON.
    draft text NOT NULL
  );

  CREATE TABLE stored_responses (
    scope text NOT NULL,
    name text NOT NULL,
    fingerprint text NOT NULL,
    created_at bigint NOT NULL,
    -- Null while the request runs.
    status integer,
    -- Null if the response is not stored.
    body text,
    PRIMARY KEY (scope, name)
  );
  CREATE INDEX stored_responses_age ON stored_responses (created_at);

  CREATE TABLE prompt_log (
    generation_id text COLLATE "C" PRIMARY KEY,
    account_id text NOT NULL,
    key_id text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    -- The data key of the ciphertext, sealed under this master key.
    master_key_id text NOT NULL,
    sealed_key text NOT NULL,
    ciphertext bytea NOT NULL
  );
  CREATE INDEX prompt_log_expires ON prompt_log (expires_at);
  CREATE INDEX prompt_log_master ON prompt_log (master_key_id);

  -- The imported catalog and the state of its refreshes, as JSON.
  CREATE TABLE catalog_documents (name text PRIMARY KEY CHECK (name IN ('catalog', 'refresh')), document text NOT NULL);
  `,
};
