import type { SqliteMigration } from "./migration.ts";

/** Settings, keys, accounts, members, generations and the ledger. */
export const accountsAndLedger: SqliteMigration = {
  oldestVersion: 1,
  sql: `
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('inference', 'management')),
    account_id TEXT NOT NULL,
    user_id TEXT,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    spend_limit INTEGER,
    -- A JSON list; null for all.
    models TEXT,
    -- A JSON object; null for the configured limit.
    rate_limit TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
  ) STRICT;

  INSERT INTO settings (name, value) VALUES ('key_revision', '0'), ('account_revision', '0');

  CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('user', 'organization')),
    name TEXT NOT NULL,
    -- Nanodollars below zero; null for no bound.
    overdraft INTEGER,
    monthly_limit INTEGER,
    policy TEXT NOT NULL,
    -- A JSON object; null for the configured limit.
    rate_limit TEXT,
    created_at INTEGER NOT NULL,
    closed_at INTEGER
  ) STRICT;

  INSERT INTO accounts (id, kind, name, overdraft, monthly_limit, policy, created_at)
  VALUES ('acct_default', 'user', 'default', NULL, NULL, '{}', 0);

  CREATE TABLE members (
    organization_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'billing', 'member')),
    daily_limit INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, user_id)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX members_user ON members (user_id);

  CREATE TABLE generations (
    id TEXT PRIMARY KEY,
    -- Searched fields have columns; the whole record is JSON.
    created_at INTEGER NOT NULL,
    -- Null for anonymous use.
    account_id TEXT,
    key_id TEXT,
    -- Null for a service key.
    user_id TEXT,
    -- Nanodollars; null while the generation runs.
    cost INTEGER,
    finished_at INTEGER,
    address_hash TEXT,
    -- The usual value is compared first, because SQLite builds a tree of the list for every row.
    outcome TEXT NOT NULL CHECK (outcome = 'completed' OR outcome IN ('open', 'failed', 'cancelled', 'interrupted')),
    record TEXT NOT NULL
  ) STRICT;

  CREATE INDEX generations_open ON generations (outcome) WHERE outcome = 'open';
  CREATE INDEX generations_anonymous ON generations (created_at) WHERE address_hash IS NOT NULL;

  -- Immutable.
  CREATE TABLE transfers (
    place INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind = 'usage' OR kind IN ('grant', 'purchase', 'refund', 'expiry', 'correction')),
    from_account TEXT NOT NULL,
    to_account TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    created_at INTEGER NOT NULL,
    note TEXT,
    expires_at INTEGER,
    CHECK (from_account <> to_account)
  ) STRICT;

  CREATE INDEX transfers_from ON transfers (from_account, place);
  CREATE INDEX transfers_deposits ON transfers (place) WHERE kind <> 'usage';
  CREATE TRIGGER transfers_stay BEFORE UPDATE ON transfers
    BEGIN SELECT RAISE(ABORT, 'a transfer is never changed'); END;
  CREATE TRIGGER transfers_remain BEFORE DELETE ON transfers
    BEGIN SELECT RAISE(ABORT, 'a transfer is never taken back'); END;

  -- The sum of each account's transfers.
  CREATE TABLE balances (account_id TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT;
  `,
};
