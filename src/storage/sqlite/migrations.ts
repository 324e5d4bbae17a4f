/** The tables, as steps that only go forward. A step that has shipped is never changed. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('inference', 'management')),
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
  ) STRICT;

  INSERT INTO settings (name, value) VALUES ('key_revision', '0');

  CREATE TABLE generations (
    id TEXT PRIMARY KEY,
    -- What is searched by has a column; the whole record is JSON.
    created_at INTEGER NOT NULL,
    -- Null for anonymous use.
    account_id TEXT,
    key_id TEXT,
    address_hash TEXT,
    outcome TEXT NOT NULL CHECK (outcome IN ('open', 'completed', 'failed', 'cancelled', 'interrupted')),
    record TEXT NOT NULL
  ) STRICT;

  CREATE INDEX generations_open ON generations (outcome) WHERE outcome = 'open';
  CREATE INDEX generations_account ON generations (account_id, created_at) WHERE account_id IS NOT NULL;
  CREATE INDEX generations_key ON generations (key_id, created_at) WHERE key_id IS NOT NULL;
  CREATE INDEX generations_anonymous ON generations (created_at) WHERE address_hash IS NOT NULL;
  `,
];
