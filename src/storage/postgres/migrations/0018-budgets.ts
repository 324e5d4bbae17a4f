import type { Migration } from "./migration.ts";

/**
 * Budgets of accounts. `spend_limit` and `spent` are nanodollars, `warn_at` thousandths of the limit; a day is counted from the epoch.
 * Gateways of earlier versions neither apply budgets nor count for them.
 */
export const budgets: Migration = {
  name: "0018-budgets",
  oldestVersion: 1,
  sql: `
  CREATE TABLE budgets (
    id text COLLATE "C" PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    subject text NOT NULL,
    -- What records have of the subject; NULL for the whole account, and for each end user or tag.
    subject_id text,
    -- The end user as the account names it.
    end_user text,
    spend_limit bigint NOT NULL,
    period text NOT NULL,
    -- The length of a rolling period.
    days bigint,
    action text NOT NULL,
    warn_at bigint NOT NULL,
    set_by text NOT NULL,
    created_at bigint NOT NULL
  );
  CREATE INDEX budgets_account ON budgets (account_id, id);

  -- What each budget has counted in each day; day 0 has what was spent before all others.
  CREATE TABLE budget_days (
    budget_id text COLLATE "C" NOT NULL,
    -- The end user or tag, of a budget for each of them; else empty.
    value text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    spent bigint NOT NULL,
    PRIMARY KEY (budget_id, value, day)
  );
  CREATE INDEX budget_days_day ON budget_days (day);

  -- The states of budgets that were reported, each once in a period.
  CREATE TABLE budget_marks (
    budget_id text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    since bigint NOT NULL,
    level text COLLATE "C" NOT NULL,
    PRIMARY KEY (budget_id, value, since, level)
  );
  `,
};
