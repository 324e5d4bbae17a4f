import type { Migration } from "./migration.ts";

/**
 * The revisions of the configuration that the management API sets, its encrypted secrets, and what each gateway reports of its own
 * configuration. Times are milliseconds since the epoch.
 */
export const storedConfig: Migration = {
  name: "0023-stored-config",
  oldestVersion: 1,
  sql: `
  CREATE TABLE config_revisions (
    revision bigint PRIMARY KEY,
    document text NOT NULL,
    changed_at bigint NOT NULL,
    changed_by text COLLATE "C" NOT NULL,
    changed text NOT NULL
  );
  CREATE TABLE config_secrets (
    id text COLLATE "C" PRIMARY KEY,
    last_four text NOT NULL,
    master_key_id text COLLATE "C" NOT NULL,
    ciphertext text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
  );
  ALTER TABLE gateways ADD COLUMN config text;
  INSERT INTO revisions (name, revision) VALUES ('config', 0);
  -- An earlier version would serve without the stored policy. Of tiers and named routes it has its own copies.
  CREATE FUNCTION keep_earlier_out() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.document::jsonb - 'tiers' - 'named_routes' <> '{}' THEN
        UPDATE schema_migrations SET oldest_version = 23 WHERE version = 23 AND oldest_version < 23;
      END IF;
      RETURN NULL;
    END $$;
  CREATE TRIGGER config_keeps_earlier_out AFTER INSERT ON config_revisions
    FOR EACH ROW EXECUTE FUNCTION keep_earlier_out();
  `,
};
