import type { SqliteMigration } from "./migration.ts";

/** The audit log, and stored responses of idempotency keys. */
export const auditLogAndResponses: SqliteMigration = {
  oldestVersion: 2,
  sql: `
  CREATE INDEX api_keys_account ON api_keys (account_id, id);

  CREATE TABLE audit_log (
    place INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    key_id TEXT,
    user_id TEXT,
    action TEXT NOT NULL,
    account_id TEXT,
    target TEXT,
    request_id TEXT,
    -- A JSON object.
    changes TEXT NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;

  CREATE INDEX audit_log_account ON audit_log (account_id, place);
  CREATE TRIGGER audit_log_stays BEFORE UPDATE ON audit_log
    BEGIN SELECT RAISE(ABORT, 'an audit entry is never changed'); END;
  CREATE TRIGGER audit_log_remains BEFORE DELETE ON audit_log
    BEGIN SELECT RAISE(ABORT, 'an audit entry is never taken back'); END;

  CREATE TABLE kept_answers (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- Null while the request runs.
    status INTEGER,
    -- Null if the response is not stored.
    body TEXT,
    PRIMARY KEY (scope, name)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX kept_answers_age ON kept_answers (created_at);
  `,
};
