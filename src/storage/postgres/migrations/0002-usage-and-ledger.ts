import type { Migration } from "./migration.ts";

/**
 * Generation records, the ledger and their sums. Amounts are nanodollars, times milliseconds since the epoch, days are counted from the
 * epoch. `generations` and `charges` are partitioned by the day of the time in the generation's id; `partitions.ts` creates the
 * partitions.
 *
 * Who locks rows of several tables does it in this order, and within a table by primary key: `generations`, `charges`, `balances`,
 * `spending`, leases of money.
 */
export const usageAndLedger: Migration = {
  name: "0002-usage-and-ledger",
  oldestVersion: 1,
  sql: `
  CREATE TABLE generations (
    day integer NOT NULL,
    id text COLLATE "C" NOT NULL,
    -- Searched fields have columns; the whole record is JSON.
    created_at bigint NOT NULL,
    -- Null for anonymous use.
    account_id text COLLATE "C",
    key_id text COLLATE "C",
    -- The model that was requested last, or answered.
    model text COLLATE "C" NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('completed', 'open', 'failed', 'cancelled', 'interrupted')),
    -- Null while the generation runs.
    cost bigint,
    address_hash text,
    -- It counts for the account's limit on free models.
    is_free boolean NOT NULL,
    -- The gateway that runs an open generation, and until when it may.
    gateway_id text,
    lease_ends_at bigint,
    record text NOT NULL,
    PRIMARY KEY (day, id)
  ) PARTITION BY RANGE (day);
  -- Lists of generations, newest first.
  CREATE INDEX generations_account ON generations (account_id, day, id);
  CREATE INDEX generations_key ON generations (key_id, day, id);
  CREATE INDEX generations_model ON generations (model, day, id);
  CREATE INDEX generations_failed ON generations (outcome, day, id)
    WHERE outcome IN ('failed', 'cancelled', 'interrupted');
  CREATE INDEX generations_open ON generations (id) WHERE outcome = 'open';
  CREATE INDEX generations_anonymous ON generations (created_at) WHERE address_hash IS NOT NULL;
  CREATE INDEX generations_free ON generations (created_at) WHERE is_free;

  -- The default takes much more processor time for records above 2 kB. A server may be built without lz4.
  DO $$ BEGIN
    ALTER TABLE generations ALTER COLUMN record SET COMPRESSION lz4;
  EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN NULL;
  END $$;

  -- The order of all transfers.
  CREATE SEQUENCE transfer_places;

  -- Transfers of kind 'usage', all to the platform.
  CREATE TABLE charges (
    day integer NOT NULL,
    -- The generation's.
    id text COLLATE "C" NOT NULL,
    place bigint NOT NULL DEFAULT nextval('transfer_places'),
    account_id text COLLATE "C" NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    created_at bigint NOT NULL,
    PRIMARY KEY (day, id)
  ) PARTITION BY RANGE (day);
  CREATE INDEX charges_account ON charges (account_id, place);

  -- All other transfers. Immutable.
  CREATE TABLE credits (
    place bigint PRIMARY KEY DEFAULT nextval('transfer_places'),
    id text COLLATE "C" NOT NULL UNIQUE,
    kind text NOT NULL CHECK (kind IN ('grant', 'purchase', 'refund', 'expiry', 'correction')),
    from_account text COLLATE "C" NOT NULL,
    to_account text COLLATE "C" NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    created_at bigint NOT NULL,
    note text,
    expires_at bigint,
    -- What each account had been charged for generations until then, so that what is left of a grant is computed without reading
    -- charges, which may have been deleted. 0 for the platform.
    from_charged bigint NOT NULL,
    to_charged bigint NOT NULL,
    CHECK (from_account <> to_account)
  );
  CREATE INDEX credits_from ON credits (from_account, place);
  CREATE INDEX credits_to ON credits (to_account, place);
  CREATE TRIGGER credits_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON credits EXECUTE FUNCTION reject_change();

  -- The platform has no row: its balance is the negative sum of all others.
  CREATE TABLE balances (
    account_id text COLLATE "C" PRIMARY KEY,
    -- The sum of the account's transfers.
    amount bigint NOT NULL DEFAULT 0,
    -- What gateways have borrowed of it and have not saved as spent.
    leased bigint NOT NULL DEFAULT 0 CHECK (leased >= 0),
    -- The sum and number of its credits.
    credited bigint NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 0,
    -- The last transaction that wrote a credit.
    changed_by xid8 NOT NULL DEFAULT '0'
  ) WITH (fillfactor = 70);
  CREATE INDEX balances_changed ON balances (changed_by, account_id);

  -- What each spending limit has used, in each of its periods.
  CREATE TABLE spending (
    meter text COLLATE "C" NOT NULL,
    -- The first day of the period; 0 for a limit of the total.
    since integer NOT NULL,
    spent bigint NOT NULL DEFAULT 0,
    leased bigint NOT NULL DEFAULT 0 CHECK (leased >= 0),
    PRIMARY KEY (meter, since)
  ) WITH (fillfactor = 70);
  CREATE INDEX spending_since ON spending (since);

  -- Grants that expire, as long as one of the account's has not ended.
  CREATE TABLE limited_grants (
    id text COLLATE "C" PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    expires_at bigint NOT NULL,
    -- Null until the grant has ended.
    ended_at bigint
  );
  CREATE INDEX limited_grants_open ON limited_grants (expires_at) WHERE ended_at IS NULL;
  CREATE INDEX limited_grants_account ON limited_grants (account_id, place);

  -- Sums of generations by the day (UTC) of their requests. Reports read this and never single generations.
  CREATE TABLE usage_days (
    day integer NOT NULL,
    -- Empty for none.
    account_id text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    prompt_tokens bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    cached_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    cost bigint NOT NULL,
    upstream_cost bigint NOT NULL,
    PRIMARY KEY (account_id, day, key_id, user_id, model, provider)
  ) WITH (fillfactor = 70);
  CREATE INDEX usage_days_day ON usage_days (day);
  CREATE INDEX usage_days_key ON usage_days (key_id, day);

  -- Records whose content the store rejects.
  CREATE TABLE quarantined_records (
    id text COLLATE "C" PRIMARY KEY,
    reason text NOT NULL,
    quarantined_at bigint NOT NULL,
    -- JSON that may be invalid as a record.
    record text NOT NULL
  );
  CREATE INDEX quarantined_records_age ON quarantined_records (quarantined_at, id);

  -- Days whose generations and charges were deleted by the retention policy. Nothing is saved for them any more.
  CREATE TABLE dropped_days (day integer PRIMARY KEY, dropped_at timestamptz NOT NULL DEFAULT now());

  -- The sums of each account's deleted charges.
  CREATE TABLE dropped_charges (account_id text COLLATE "C" PRIMARY KEY, amount bigint NOT NULL);
  `,
};
