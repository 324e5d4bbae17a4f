import type { SqliteMigration } from "./migration.ts";

/**
 * Indexes for the filters of the audit log, whose lists are in the order of time. The operator's account, which the first step created at
 * the epoch, gets the time of its first key, or of this step in a new database.
 */
export const auditFilters: SqliteMigration = {
  oldestVersion: 32,
  sql: `
  DROP INDEX audit_log_account;
  CREATE INDEX audit_log_time ON audit_log (at, place);
  CREATE INDEX audit_log_account ON audit_log (account_id, at, place);
  CREATE INDEX audit_log_user ON audit_log (user_id, at, place) WHERE user_id IS NOT NULL;
  CREATE INDEX audit_log_key ON audit_log (key_id, at, place);
  CREATE INDEX audit_log_action ON audit_log (action, at, place);
  CREATE INDEX audit_log_target ON audit_log (target, at, place) WHERE target IS NOT NULL;

  UPDATE accounts SET created_at = coalesce(
    (SELECT min(created_at) FROM api_keys WHERE account_id = 'acct_default'),
    CAST(1000 * unixepoch('subsec') AS INTEGER)
  ) WHERE id = 'acct_default' AND created_at = 0;
  `,
};
