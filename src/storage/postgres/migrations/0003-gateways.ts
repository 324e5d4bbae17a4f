import type { Migration } from "./migration.ts";

/** The gateways that share the database, and the leases of tasks that only one process at a time does for all. */
export const gateways: Migration = {
  name: "0003-gateways",
  oldestVersion: 1,
  sql: `
  -- One sequence for all gateways: an epoch is never given twice, also not to an id whose row was deleted.
  CREATE SEQUENCE gateway_epochs;

  CREATE TABLE gateways (
    id text COLLATE "C" PRIMARY KEY,
    epoch bigint NOT NULL DEFAULT nextval('gateway_epochs'),
    -- By the clock of the database, as are the others.
    started_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    -- The gateway counts as live until then.
    ends_at timestamptz NOT NULL,
    host text NOT NULL,
    version text NOT NULL,
    data_dir text NOT NULL,
    -- The ids of its master keys as a JSON list. The first encrypts.
    master_keys text NOT NULL
  );

  CREATE SEQUENCE task_lease_numbers;

  CREATE TABLE task_leases (
    name text PRIMARY KEY,
    owner text NOT NULL,
    -- Tells a lease from earlier ones of the same name and owner.
    number bigint NOT NULL DEFAULT nextval('task_lease_numbers'),
    -- By the clock of the database.
    ends_at timestamptz NOT NULL
  );

  -- Tells listening gateways that something has changed that they look for. They find every change without it.
  CREATE FUNCTION announce_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_notify('gateway_changes', TG_TABLE_NAME); RETURN NULL; END $$;
  CREATE TRIGGER revisions_announced AFTER UPDATE ON revisions FOR EACH STATEMENT EXECUTE FUNCTION announce_change();
  CREATE TRIGGER gateways_announced AFTER INSERT OR DELETE OR UPDATE OF epoch ON gateways
    FOR EACH STATEMENT EXECUTE FUNCTION announce_change();
  `,
};
