import type { Migration } from "./migration.ts";

/**
 * The leases of gateways on balances and spending limits (docs/adr/0012-several-gateways.md). `balances.leased` and `spending.leased` are
 * the sums of these rows. Before a transaction changes a row, it locks the account's row in `balances`, and then the rows of `spending` by
 * meter and period.
 */
export const moneyLeases: Migration = {
  name: "0004-money-leases",
  oldestVersion: 1,
  sql: `
  CREATE TABLE balance_leases (
    account_id text COLLATE "C" NOT NULL,
    gateway_id text COLLATE "C" NOT NULL,
    -- What the gateway may still spend and has not saved. Nanodollars.
    amount bigint NOT NULL DEFAULT 0 CHECK (amount >= 0),
    -- The last change that the gateway made to its leases of the account, those of spending limits included. Orders with a lower or
    -- equal number are not carried out any more.
    ticket bigint NOT NULL DEFAULT 0,
    -- The answer to it, as JSON, for an order that is sent again.
    answer text,
    PRIMARY KEY (account_id, gateway_id)
  ) WITH (fillfactor = 70);
  CREATE INDEX balance_leases_gateway ON balance_leases (gateway_id);

  CREATE TABLE spending_leases (
    meter text COLLATE "C" NOT NULL,
    since integer NOT NULL,
    gateway_id text COLLATE "C" NOT NULL,
    -- The account that the limit belongs to.
    account_id text COLLATE "C" NOT NULL,
    amount bigint NOT NULL DEFAULT 0 CHECK (amount >= 0),
    PRIMARY KEY (meter, since, gateway_id)
  ) WITH (fillfactor = 70);
  CREATE INDEX spending_leases_gateway ON spending_leases (gateway_id);

  -- Accounts of which a gateway wants more than was left. The other gateways give back what they do not need.
  CREATE TABLE wanted_leases (
    account_id text COLLATE "C" NOT NULL,
    gateway_id text COLLATE "C" NOT NULL,
    -- By the clock of the database.
    wanted_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, gateway_id)
  );
  CREATE TRIGGER wanted_leases_announced AFTER INSERT OR UPDATE ON wanted_leases
    FOR EACH STATEMENT EXECUTE FUNCTION announce_change();
  `,
};
