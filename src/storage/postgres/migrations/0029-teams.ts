import type { Migration } from "./migration.ts";

/** The columns of a key that no cache has: when its secrets were used, and what was announced. */
const UNREAD = ["used_at", "previous_used_at", "previous_announced_at"];
const withoutUnread = (row: string) => [`to_jsonb(${row})`, ...UNREAD.map((name) => `'${name}'`)].join(" - ");
/** Whether an update of a key changes other columns too. */
const IS_CHANGE = `${withoutUnread("OLD.*")} IS DISTINCT FROM ${withoutUnread("NEW.*")}`;

/** Teams of organizations, invitations, auditors, the sources of memberships, keys with two secrets, and defaults for keys. */
export const teams: Migration = {
  name: "0029-teams",
  oldestVersion: 1,
  sql: `
  CREATE TABLE teams (
    id text COLLATE "C" PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    policy text NOT NULL,
    -- A JSON object; null for none.
    rate_limit text,
    prompt_log_seconds bigint,
    cache_seconds bigint,
    -- A JSON list; null for none.
    tags text,
    created_at bigint NOT NULL,
    deleted_at bigint
  );
  CREATE INDEX teams_organization ON teams (organization_id, id);
  CREATE UNIQUE INDEX teams_name ON teams (organization_id, lower(name)) WHERE deleted_at IS NULL;
  CREATE INDEX teams_by_name ON teams (lower(name));
  -- An earlier version would let keys of a team spend without the team's policy and limits.
  CREATE FUNCTION keep_out_before_teams() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE schema_migrations SET oldest_version = 29 WHERE version = 29 AND oldest_version < 29;
      RETURN NULL;
    END $$;
  CREATE TRIGGER teams_keep_earlier_out AFTER INSERT ON teams
    FOR EACH STATEMENT EXECUTE FUNCTION keep_out_before_teams();

  CREATE TABLE team_members (
    team_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    organization_id text COLLATE "C" NOT NULL,
    is_lead boolean NOT NULL,
    source text NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (team_id, user_id)
  );
  CREATE INDEX team_members_user ON team_members (organization_id, user_id);

  CREATE TABLE invitations (
    id text COLLATE "C" PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL,
    role text NOT NULL,
    -- A JSON list.
    teams text NOT NULL,
    email text,
    -- SHA-256 of the secret in the link, hex.
    hash text NOT NULL UNIQUE,
    -- The user who has invited; null for the operator and for service keys.
    created_by text,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    -- When it was accepted, by a user, or withdrawn.
    ended_at bigint,
    user_id text
  );
  CREATE INDEX invitations_organization ON invitations (organization_id, id);
  CREATE INDEX invitations_ended ON invitations ((coalesce(ended_at, expires_at)));

  ALTER TABLE members DROP CONSTRAINT members_role_check,
    ADD CONSTRAINT members_role_check CHECK (role IN ('owner', 'admin', 'billing', 'auditor', 'member')),
    -- Null for a membership of an earlier version.
    ADD COLUMN source text;

  -- Defaults for keys. JSON; null: members of the organization make no keys.
  ALTER TABLE accounts ADD COLUMN member_keys text, ADD COLUMN prompt_log_seconds bigint,
    ADD COLUMN cache_seconds bigint, ADD COLUMN tags text;

  ALTER TABLE api_keys ADD COLUMN team_id text COLLATE "C", ADD COLUMN tags text,
    -- The time of the last rotation, and the secret before it, which is valid until a time.
    ADD COLUMN rotated_at bigint, ADD COLUMN previous_hash text, ADD COLUMN previous_hint text,
    ADD COLUMN previous_until bigint, ADD COLUMN previous_used_at bigint;
  CREATE INDEX api_keys_team ON api_keys (team_id, id) WHERE team_id IS NOT NULL;
  CREATE UNIQUE INDEX api_keys_previous ON api_keys (previous_hash) WHERE previous_hash IS NOT NULL;

  -- When it was announced that the secret before the last rotation ends although it is still used.
  ALTER TABLE api_keys ADD COLUMN previous_announced_at bigint;
  CREATE INDEX api_keys_previous_until ON api_keys (previous_until, id) WHERE previous_until IS NOT NULL;

  -- The team of the key.
  ALTER TABLE rejections ADD COLUMN team_id text COLLATE "C";
  CREATE INDEX rejections_team ON rejections (team_id, id) WHERE team_id IS NOT NULL;

  -- The teams for whose keys alone a provider key is used. A JSON list; null for all.
  ALTER TABLE provider_keys ADD COLUMN teams text;

  -- Gateways have keys in memory by the hashes of their secrets, of which a rotated key has had others.
  CREATE FUNCTION record_other_secrets() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changed_rows (name, id)
        SELECT 'keys', hash FROM unnest(ARRAY[OLD.hash, OLD.previous_hash]) AS hash
        WHERE hash IS NOT NULL AND hash <> NEW.hash;
      RETURN NULL;
    END $$;
  CREATE TRIGGER api_keys_secrets_recorded AFTER UPDATE ON api_keys
    FOR EACH ROW WHEN ((OLD.hash <> NEW.hash OR OLD.previous_hash IS NOT NULL) AND ${IS_CHANGE})
    EXECUTE FUNCTION record_other_secrets();
  DROP TRIGGER api_keys_change_recorded ON api_keys;
  CREATE TRIGGER api_keys_change_recorded AFTER UPDATE ON api_keys
    FOR EACH ROW WHEN (${IS_CHANGE}) EXECUTE FUNCTION record_changed_row('keys', 'hash');

  -- Teams are part of their organization, and memberships of a team part of that in the organization.
  CREATE TRIGGER teams_recorded AFTER INSERT OR UPDATE OR DELETE ON teams
    FOR EACH ROW EXECUTE FUNCTION record_changed_row('accounts', 'organization_id');
  CREATE TRIGGER team_members_recorded AFTER INSERT OR UPDATE OR DELETE ON team_members
    FOR EACH ROW EXECUTE FUNCTION record_changed_row('accounts', 'organization_id', 'user_id');
  `,
};
