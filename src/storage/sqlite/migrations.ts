/** One step that creates or changes tables. The statements of a released step are never changed. */
export interface SqliteMigration {
  readonly sql: string;
  /**
   * The lowest schema version whose code still works after this step. A step that only adds keeps the value of the step before it, so
   * that the version before starts again on the file.
   */
  readonly oldestVersion: number;
}

/** The steps of versions that open no file of a newer schema. Each needs itself. */
const FIRST_STEPS: readonly string[] = [
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
  // The audit log, and stored responses of idempotency keys.
  `
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
  `
  -- Grants that expire, as long as one of the account's has not ended. The ledger is read from the first of them on to compute
  -- what is left of each.
  CREATE TABLE limited_grants (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- Null until the grant has ended.
    ended_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX limited_grants_open ON limited_grants (expires_at) WHERE ended_at IS NULL;
  CREATE INDEX limited_grants_account ON limited_grants (account_id, place);
  -- Applies to the grants of all processes.
  CREATE TRIGGER transfers_limited AFTER INSERT ON transfers WHEN NEW.expires_at IS NOT NULL
    BEGIN INSERT INTO limited_grants (id, account_id, place, expires_at)
      VALUES (NEW.id, NEW.to_account, NEW.place, NEW.expires_at); END;

  -- Finds an account's credits without reading the costs of its generations.
  CREATE INDEX transfers_credits_to ON transfers (to_account, place) WHERE kind <> 'usage';
  CREATE INDEX transfers_credits_from ON transfers (from_account, place) WHERE kind <> 'usage';

  -- Sums of generations by the day (UTC) of their requests. Reports and spending limits read this and never single
  -- generations.
  CREATE TABLE usage_days (
    -- Days since the epoch.
    day INTEGER NOT NULL,
    -- Empty for none.
    account_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    requests INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    -- Nanodollars.
    cost INTEGER NOT NULL,
    upstream_cost INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, key_id, user_id, model, provider)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX usage_days_day ON usage_days (day);
  CREATE INDEX usage_days_key ON usage_days (key_id, day);
  `,
  // BYOK keys.
  `
  CREATE TABLE provider_keys (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    name TEXT NOT NULL,
    last_four TEXT NOT NULL,
    -- The id of the master key that encrypted the secret.
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
  // Changes that have begun. A change that a crash cut off gets its audit entry at the next start.
  `
  CREATE TABLE announced_changes (
    note INTEGER PRIMARY KEY,
    -- The audit entry, as JSON.
    draft TEXT NOT NULL
  ) STRICT;
  `,
  // The trigger ran for every transfer, although few are grants. The writer of transfers adds them instead.
  `
  DROP TRIGGER transfers_limited;
  `,
  // Requests that count for their account's limit on free models, so that a restart does not reset it.
  `
  ALTER TABLE generations ADD COLUMN free INTEGER;
  CREATE INDEX generations_free ON generations (created_at) WHERE free = 1;
  `,
  // Usage records whose content the store rejects.
  `
  CREATE TABLE quarantined_records (
    id TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    quarantined_at INTEGER NOT NULL,
    -- JSON that may be invalid as a record.
    record TEXT NOT NULL
  ) STRICT;
  `,
  // The gateway that runs an open generation, and until when it may: null once the generation has ended.
  `
  ALTER TABLE generations ADD COLUMN gateway_id TEXT;
  ALTER TABLE generations ADD COLUMN lease_ends_at INTEGER;
  `,
  // Every transfer updated the platform's row. Its balance is derived from the others.
  `
  DELETE FROM balances WHERE account_id = 'house';
  `,
  // Bodies of requests and answers, for keys with a prompt log.
  `
  ALTER TABLE api_keys ADD COLUMN prompt_log_seconds INTEGER;

  CREATE TABLE prompt_log (
    generation_id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- The data key of the ciphertext, sealed under this master key.
    master_key_id TEXT NOT NULL,
    sealed_key TEXT NOT NULL,
    ciphertext BLOB NOT NULL
  ) STRICT;

  CREATE INDEX prompt_log_expires ON prompt_log (expires_at);
  CREATE INDEX prompt_log_master ON prompt_log (master_key_id);
  `,
  // The sum and number of each account's transfers that are no cost of a generation, by which other processes notice new ones.
  `
  ALTER TABLE balances ADD COLUMN credited INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE balances ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
  UPDATE balances SET (credited, version) = (
    SELECT coalesce(sum(amount), 0), count(*) FROM (
      SELECT amount FROM transfers WHERE to_account = balances.account_id AND kind <> 'usage'
      UNION ALL SELECT -amount FROM transfers WHERE from_account = balances.account_id AND kind <> 'usage'
    ));
  `,
  // Generations and charges that the retention policy has deleted.
  `
  -- One row: the generations with lower ids were deleted, apart from open ones.
  CREATE TABLE retention (only INTEGER PRIMARY KEY CHECK (only = 1), before_id TEXT NOT NULL) STRICT;

  -- The sums of deleted charges, by the account's last transfer of another kind before them.
  CREATE TABLE dropped_charges (
    account_id TEXT NOT NULL,
    after_place INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (account_id, after_place)
  ) STRICT, WITHOUT ROWID;

  DROP TRIGGER transfers_remain;
  CREATE TRIGGER transfers_remain BEFORE DELETE ON transfers
    WHEN OLD.kind <> 'usage' OR OLD.id >= coalesce((SELECT before_id FROM retention), '')
    BEGIN SELECT RAISE(ABORT, 'a transfer is never taken back'); END;
  `,
  // Sessions of the console, and one-time codes that sign in to it.
  `
  CREATE TABLE console_sessions (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    key_id TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    account_id TEXT NOT NULL,
    user_id TEXT,
    user_agent TEXT,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX console_sessions_key ON console_sessions (key_id, id);

  CREATE TABLE console_codes (hash TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  // Lists of generations that did not complete, newest first.
  `
  CREATE INDEX generations_ended_early ON generations (id, outcome)
    WHERE outcome IN ('failed', 'cancelled', 'interrupted');
  `,
  // The users of people who sign in through an OpenID Connect provider.
  `
  CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) STRICT, WITHOUT ROWID;
  `,
  // The condition of the former index made SQLite build a tree of its list for every row that was saved.
  `
  DROP INDEX generations_ended_early;
  CREATE INDEX generations_not_completed ON generations (id, outcome)
    WHERE outcome <> 'completed' AND outcome <> 'open';
  `,
  // The groups of accounts that pay the same prices.
  `
  ALTER TABLE accounts ADD COLUMN plan TEXT;
  `,
  // How long answers to equal requests of a key are given again.
  `
  ALTER TABLE api_keys ADD COLUMN cache_seconds INTEGER;
  `,
  // What lists of generations are filtered by, in the order of ids, so that the records themselves are not read. Generations of earlier
  // versions have neither column: theirs are read from their records, once.
  `
  -- Empty for none.
  ALTER TABLE generations ADD COLUMN model TEXT;
  ALTER TABLE generations ADD COLUMN provider TEXT;
  ALTER TABLE generations ADD COLUMN error_type TEXT;

  CREATE INDEX generations_facts ON generations (id, outcome, account_id, key_id, user_id,
    coalesce(model, record ->> 'model', record ->> 'requestedModel'), coalesce(provider, record ->> 'provider'));
  DROP INDEX generations_not_completed;
  CREATE INDEX generations_not_completed ON generations (id, outcome, account_id, key_id, user_id,
    coalesce(model, record ->> 'model', record ->> 'requestedModel'), coalesce(provider, record ->> 'provider'),
    coalesce(error_type, record ->> 'error'))
    WHERE outcome <> 'completed' AND outcome <> 'open';

  -- Finds the days of a user, model or provider. Few rows are added to the table; the many changes of its rows leave the indexes alone.
  CREATE INDEX usage_days_user ON usage_days (user_id, day);
  CREATE INDEX usage_days_model ON usage_days (model, day);
  CREATE INDEX usage_days_provider ON usage_days (provider, day);
  `,
  // When each API key was used last: the beginning of the hour.
  `
  ALTER TABLE api_keys ADD COLUMN used_at INTEGER;
  `,
  // Lists of the generations of a session: the keyed hash of what the client named. Those without one cost nothing.
  `
  ALTER TABLE generations ADD COLUMN session_id TEXT;
  CREATE INDEX generations_session ON generations (session_id, id) WHERE session_id IS NOT NULL;
  `,
  // Sums of usage by hour, which later become sums of days. `usage_days` stays with what it has.
  `
  CREATE TABLE usage_sums (
    -- Empty for none.
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    -- The hour of the day (UTC), or -1 for a whole day.
    hour INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    requests INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    -- Nanodollars.
    cost INTEGER NOT NULL,
    upstream_cost INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, key_id, user_id, model, provider, hour, outcome)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX usage_sums_day ON usage_sums (day, hour);
  CREATE INDEX usage_sums_key ON usage_sums (key_id, day);
  CREATE INDEX usage_sums_user ON usage_sums (user_id, day);
  CREATE INDEX usage_sums_model ON usage_sums (model, day);
  CREATE INDEX usage_sums_provider ON usage_sums (provider, day);

  -- How long generations took: their numbers by the time to the first token and to the end. The key is that of usage_sums.
  CREATE TABLE usage_times (
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    hour INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    ${listBuckets("latency")},
    ${listBuckets("duration")},
    PRIMARY KEY (account_id, day, key_id, user_id, model, provider, hour, outcome)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_times_day ON usage_times (day, hour);
  CREATE INDEX usage_times_key ON usage_times (key_id, day);
  `,
  // When the person of a session last proved who they are to the OpenID Connect provider; 0: unknown, null: no such person.
  `
  ALTER TABLE console_sessions ADD COLUMN authenticated_at INTEGER;
  UPDATE console_sessions SET authenticated_at = 0
    WHERE key_id IN (SELECT id FROM api_keys WHERE name LIKE 'console sign-in %');
  `,
  // The versions of named routes. Those of the operator have an empty account.
  `
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
  // E-mail addresses of users, in lower case, and the operator's own ids of accounts.
  `
  ALTER TABLE accounts ADD COLUMN email TEXT;
  ALTER TABLE accounts ADD COLUMN external_id TEXT;
  CREATE UNIQUE INDEX accounts_email ON accounts (email) WHERE email IS NOT NULL;
  CREATE UNIQUE INDEX accounts_external_id ON accounts (external_id) WHERE external_id IS NOT NULL;
  `,
  // Tags of requests: by which generations are found, and sums of usage by hour and tag. Requests without tags have no row in them.
  `
  CREATE TABLE generation_tags (
    tag TEXT NOT NULL,
    -- The generation's.
    id TEXT NOT NULL,
    PRIMARY KEY (tag, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE usage_tags (
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    -- The hour of the day (UTC), or -1 for a whole day.
    hour INTEGER NOT NULL,
    -- A tag; '(other)' for those that are not counted one by one; empty for each request with tags once.
    tag TEXT NOT NULL,
    key_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    outcome TEXT NOT NULL,
    requests INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    upstream_cost INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, hour, tag, key_id, user_id, model, provider, outcome)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_tags_day ON usage_tags (day, hour);
  CREATE INDEX usage_tags_tag ON usage_tags (tag, day);
  `,
  // The period in which a key's spending limit applies anew; NULL for a limit over its lifetime.
  `
  ALTER TABLE api_keys ADD COLUMN spend_limit_period TEXT;
  `,
  // The part of the list price that providers bill to the accounts themselves, so that reports tell the operator's margin. 0 in what
  // earlier versions have counted.
  `
  ALTER TABLE usage_sums ADD COLUMN byok_upstream_cost INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage_tags ADD COLUMN byok_upstream_cost INTEGER NOT NULL DEFAULT 0;
  `,
  // Budgets of accounts.
  `
  CREATE TABLE budgets (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    subject TEXT NOT NULL,
    -- What records have of the subject; NULL for the whole account, and for each end user or tag.
    subject_id TEXT,
    -- The end user as the account names it.
    end_user TEXT,
    -- Nanodollars in a period.
    spend_limit INTEGER NOT NULL,
    period TEXT NOT NULL,
    -- The length of a rolling period.
    days INTEGER,
    action TEXT NOT NULL,
    -- Thousandths of the limit.
    warn_at INTEGER NOT NULL,
    set_by TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX budgets_account ON budgets (account_id, id);

  -- What each budget has counted in each day; day 0 has what was spent before all others.
  CREATE TABLE budget_days (
    budget_id TEXT NOT NULL,
    -- The end user or tag, of a budget for each of them; else empty.
    value TEXT NOT NULL,
    day INTEGER NOT NULL,
    -- Nanodollars.
    spent INTEGER NOT NULL,
    PRIMARY KEY (budget_id, value, day)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX budget_days_day ON budget_days (day);

  -- The states of budgets that were reported, each once in a period.
  CREATE TABLE budget_marks (
    budget_id TEXT NOT NULL,
    value TEXT NOT NULL,
    since INTEGER NOT NULL,
    level TEXT NOT NULL,
    PRIMARY KEY (budget_id, value, since, level)
  ) STRICT, WITHOUT ROWID;
  `,
  // What lists of keys and accounts are read by, so that none of them reads the whole table.
  `
  CREATE INDEX accounts_kind ON accounts (kind, id);
  CREATE INDEX accounts_name ON accounts (lower(name));
  CREATE INDEX api_keys_name ON api_keys (lower(name));
  CREATE INDEX api_keys_user ON api_keys (user_id, id) WHERE user_id IS NOT NULL;
  CREATE INDEX api_keys_expiry ON api_keys (expires_at, id) WHERE expires_at IS NOT NULL;
  `,
  // What reading prompts from vendors' caches has saved, less what writing them has cost more. Nanodollars; 0 in what earlier versions
  // have counted.
  `
  ALTER TABLE usage_sums ADD COLUMN cache_saved INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage_tags ADD COLUMN cache_saved INTEGER NOT NULL DEFAULT 0;
  `,
];

function listBuckets(name: string): string {
  return Array.from({ length: 32 }, (_, bucket) => `${name}_${bucket} INTEGER NOT NULL`).join(", ");
}

/** The steps that create and change the tables, in order. The version of a schema is the number of its steps. */
export const MIGRATIONS: readonly SqliteMigration[] = [
  ...FIRST_STEPS.map((sql, index) => ({ sql, oldestVersion: index + 1 })),
];
