import type { SqliteMigration } from "./migration.ts";

/** Budgets of accounts. */
export const budgets: SqliteMigration = {
  oldestVersion: 30,
  sql: `
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
};
