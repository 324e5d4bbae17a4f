import type { SqliteMigration } from "./migration.ts";

/** Generations and charges that the retention policy has deleted. */
export const retention: SqliteMigration = {
  oldestVersion: 13,
  sql: `
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
};
