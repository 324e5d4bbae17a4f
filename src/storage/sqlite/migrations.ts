/** The tables, as steps that only go forward. A step that has shipped is never changed. */
export const MIGRATIONS: readonly string[] = [
  `
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
    -- What is searched by has a column; the whole record is JSON.
    created_at INTEGER NOT NULL,
    -- Null for anonymous use.
    account_id TEXT,
    key_id TEXT,
    -- Null where the key is nobody's but the account's.
    user_id TEXT,
    -- Nanodollars; null while it is open.
    cost INTEGER,
    finished_at INTEGER,
    address_hash TEXT,
    outcome TEXT NOT NULL CHECK (outcome IN ('open', 'completed', 'failed', 'cancelled', 'interrupted')),
    record TEXT NOT NULL
  ) STRICT;

  CREATE INDEX generations_open ON generations (outcome) WHERE outcome = 'open';
  CREATE INDEX generations_account ON generations (account_id, created_at) WHERE account_id IS NOT NULL;
  CREATE INDEX generations_key ON generations (key_id, created_at) WHERE key_id IS NOT NULL;
  CREATE INDEX generations_user ON generations (user_id, finished_at) WHERE user_id IS NOT NULL;
  CREATE INDEX generations_anonymous ON generations (created_at) WHERE address_hash IS NOT NULL;

  -- Money moved, for ever: what stands here is never changed.
  CREATE TABLE transfers (
    place INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('usage', 'grant', 'purchase', 'refund', 'expiry', 'correction')),
    from_account TEXT NOT NULL,
    to_account TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    created_at INTEGER NOT NULL,
    note TEXT,
    expires_at INTEGER,
    CHECK (from_account <> to_account)
  ) STRICT;

  CREATE INDEX transfers_from ON transfers (from_account, place);
  CREATE INDEX transfers_to ON transfers (to_account, place);
  CREATE INDEX transfers_deposits ON transfers (place) WHERE kind <> 'usage';
  CREATE TRIGGER transfers_stay BEFORE UPDATE ON transfers
    BEGIN SELECT RAISE(ABORT, 'a transfer is never changed'); END;
  CREATE TRIGGER transfers_remain BEFORE DELETE ON transfers
    BEGIN SELECT RAISE(ABORT, 'a transfer is never taken back'); END;

  -- The sum of each account's transfers, kept so that nobody has to add them up.
  CREATE TABLE balances (account_id TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT;
  `,
  // Accounts' own keys at providers.
  `
  CREATE TABLE provider_keys (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    name TEXT NOT NULL,
    last_four TEXT NOT NULL,
    -- Which master key has sealed the box; the secret stands nowhere else.
    master_key_id TEXT NOT NULL,
    box TEXT NOT NULL,
    place INTEGER NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    -- JSON lists; null for all.
    models TEXT,
    members TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_used_at INTEGER,
    last_error TEXT
  ) STRICT;

  CREATE INDEX provider_keys_account ON provider_keys (account_id);
  CREATE INDEX provider_keys_master ON provider_keys (master_key_id);
  INSERT INTO settings (name, value) VALUES ('provider_key_revision', '0');
  `,
];
