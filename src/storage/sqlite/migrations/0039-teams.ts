import type { SqliteMigration } from "./migration.ts";

/** Teams of organizations, invitations, auditors, the sources of memberships, keys with two secrets, and defaults for keys. */
export const teams: SqliteMigration = {
  oldestVersion: 32,
  sql: `
  CREATE TABLE teams (
    id TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL,
    name TEXT NOT NULL,
    policy TEXT NOT NULL,
    -- A JSON object; null for none.
    rate_limit TEXT,
    prompt_log_seconds INTEGER,
    cache_seconds INTEGER,
    -- A JSON list; null for none.
    tags TEXT,
    created_at INTEGER NOT NULL,
    deleted_at INTEGER
  ) STRICT;
  CREATE INDEX teams_organization ON teams (organization_id, id);
  CREATE UNIQUE INDEX teams_name ON teams (organization_id, lower(name)) WHERE deleted_at IS NULL;
  CREATE INDEX teams_by_name ON teams (lower(name));
  -- An earlier version would let keys of a team spend without the team's policy and limits.
  CREATE TRIGGER teams_keep_earlier_out AFTER INSERT ON teams
    BEGIN
      INSERT INTO settings (name, value) VALUES ('oldest_schema', '39')
        ON CONFLICT (name) DO UPDATE SET value = max(CAST(value AS INTEGER), 39);
    END;

  CREATE TABLE team_members (
    team_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    is_lead INTEGER NOT NULL,
    source TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (team_id, user_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX team_members_user ON team_members (organization_id, user_id);

  CREATE TABLE invitations (
    id TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL,
    role TEXT NOT NULL,
    -- A JSON list.
    teams TEXT NOT NULL,
    email TEXT,
    -- SHA-256 of the secret in the link, hex.
    hash TEXT NOT NULL UNIQUE,
    -- The user who has invited; null for the operator and for service keys.
    created_by TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- When it was accepted, by a user, or withdrawn.
    ended_at INTEGER,
    user_id TEXT
  ) STRICT;
  CREATE INDEX invitations_organization ON invitations (organization_id, id);
  CREATE INDEX invitations_ended ON invitations (coalesce(ended_at, expires_at));

  -- A check of a column cannot be changed.
  CREATE TABLE members_with_sources (
    organization_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'billing', 'auditor', 'member')),
    daily_limit INTEGER,
    created_at INTEGER NOT NULL,
    -- Null for a membership of an earlier version.
    source TEXT,
    PRIMARY KEY (organization_id, user_id)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO members_with_sources (organization_id, user_id, role, daily_limit, created_at)
    SELECT organization_id, user_id, role, daily_limit, created_at FROM members;
  DROP TABLE members;
  ALTER TABLE members_with_sources RENAME TO members;
  CREATE INDEX members_user ON members (user_id);

  -- Defaults for keys. JSON; null: members of the organization make no keys.
  ALTER TABLE accounts ADD COLUMN member_keys TEXT;
  ALTER TABLE accounts ADD COLUMN prompt_log_seconds INTEGER;
  ALTER TABLE accounts ADD COLUMN cache_seconds INTEGER;
  ALTER TABLE accounts ADD COLUMN tags TEXT;

  ALTER TABLE api_keys ADD COLUMN team_id TEXT;
  ALTER TABLE api_keys ADD COLUMN tags TEXT;
  -- The time of the last rotation, and the secret before it, which is valid until a time.
  ALTER TABLE api_keys ADD COLUMN rotated_at INTEGER;
  ALTER TABLE api_keys ADD COLUMN previous_hash TEXT;
  ALTER TABLE api_keys ADD COLUMN previous_hint TEXT;
  ALTER TABLE api_keys ADD COLUMN previous_until INTEGER;
  ALTER TABLE api_keys ADD COLUMN previous_used_at INTEGER;
  CREATE INDEX api_keys_team ON api_keys (team_id, id) WHERE team_id IS NOT NULL;
  CREATE UNIQUE INDEX api_keys_previous ON api_keys (previous_hash) WHERE previous_hash IS NOT NULL;

  -- When it was announced that the secret before the last rotation ends although it is still used.
  ALTER TABLE api_keys ADD COLUMN previous_announced_at INTEGER;
  CREATE INDEX api_keys_previous_until ON api_keys (previous_until, id) WHERE previous_until IS NOT NULL;

  -- The team of the key.
  ALTER TABLE rejections ADD COLUMN team_id TEXT;
  CREATE INDEX rejections_team ON rejections (team_id, id) WHERE team_id IS NOT NULL;

  -- The teams for whose keys alone a provider key is used. A JSON list; null for all.
  ALTER TABLE provider_keys ADD COLUMN teams TEXT;
  `,
};
