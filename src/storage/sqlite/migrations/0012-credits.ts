import type { SqliteMigration } from "./migration.ts";

/** The sum and number of each account's transfers other than costs of generations. Other processes notice new transfers by them. */
export const credits: SqliteMigration = {
  oldestVersion: 12,
  sql: `
  ALTER TABLE balances ADD COLUMN credited INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE balances ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
  UPDATE balances SET (credited, version) = (
    SELECT coalesce(sum(amount), 0), count(*) FROM (
      SELECT amount FROM transfers WHERE to_account = balances.account_id AND kind <> 'usage'
      UNION ALL SELECT -amount FROM transfers WHERE from_account = balances.account_id AND kind <> 'usage'
    ));
  `,
};
