import type { Migration } from "./migration.ts";

/**
 * The changed rows by group of tables (`revisions`), so that gateways read only these again. A change holds the lock of its group until its
 * end, so within a group, changes become visible in the order of `place`. The last ten thousand are kept.
 */
export const changedRows: Migration = {
  name: "0021-changed-rows",
  oldestVersion: 1,
  sql: `
  CREATE TABLE changed_rows (
    name text COLLATE "C" NOT NULL,
    place bigint GENERATED ALWAYS AS IDENTITY,
    -- As the caches of gateways name it.
    id text NOT NULL,
    PRIMARY KEY (name, place)
  );
  -- A reader continues behind a row that it has seen.
  INSERT INTO changed_rows (name, id) VALUES ('accounts', ''), ('keys', ''), ('provider_keys', ''), ('named_routes', '');

  -- The arguments are the group and the columns of the id.
  CREATE FUNCTION record_changed_row() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      changed jsonb := to_jsonb(CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END);
      at bigint;
    BEGIN
      INSERT INTO changed_rows (name, id)
        VALUES (TG_ARGV[0], (changed->>TG_ARGV[1]) || coalesce('/' || (changed->>TG_ARGV[2]), ''))
        RETURNING place INTO at;
      IF at % 100 = 0 THEN DELETE FROM changed_rows WHERE name = TG_ARGV[0] AND place < at - 10000; END IF;
      RETURN NULL;
    END $$;

  ${recordChanges("api_keys", "'keys', 'hash'", ["used_at"])}
  ${recordChanges("accounts", "'accounts', 'id'")}
  ${recordChanges("members", "'accounts', 'organization_id', 'user_id'")}
  ${recordChanges("budgets", "'accounts', 'account_id'")}
  ${recordChanges("provider_keys", "'provider_keys', 'account_id'", ["last_used_at", "last_error"])}
  ${recordChanges("named_routes", "'named_routes', 'account_id'")}
  `,
};

/** Returns triggers that record changes of a table's rows, except changes of only those columns that no cache has. */
function recordChanges(table: string, group: string, unread: readonly string[] = []): string {
  const rest = (row: string) => [`to_jsonb(${row})`, ...unread.map((column) => `'${column}'`)].join(" - ");
  return `
  CREATE TRIGGER ${table}_recorded AFTER INSERT OR DELETE ON ${table}
    FOR EACH ROW EXECUTE FUNCTION record_changed_row(${group});
  CREATE TRIGGER ${table}_change_recorded AFTER UPDATE ON ${table}
    FOR EACH ROW WHEN (${rest("OLD.*")} IS DISTINCT FROM ${rest("NEW.*")})
    EXECUTE FUNCTION record_changed_row(${group});`;
}
