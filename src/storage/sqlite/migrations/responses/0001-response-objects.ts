import type { SqliteMigration } from "../migration.ts";

/** Response objects and conversations. The tables have the names and columns of those in PostgreSQL, which partitions them by `day`. */
export const responseObjects: SqliteMigration = {
  oldestVersion: 1,
  sql: `
  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

  -- A chain of objects, or a conversation. All of it expires at one time.
  CREATE TABLE response_chains (
    -- The id of the first object, or of the conversation.
    root_id TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL,
    -- How many objects it has, and the days of the first and of the last one; NULL before the first.
    objects INTEGER NOT NULL,
    first_day INTEGER,
    last_day INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX response_chains_expires ON response_chains (expires_at);

  CREATE TABLE response_conversations (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    user_id TEXT,
    key_id TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    -- The data key of the ciphertext, sealed under this master key.
    master_key_id TEXT NOT NULL,
    sealed_key TEXT NOT NULL,
    ciphertext BLOB NOT NULL
  ) STRICT;
  CREATE INDEX response_conversations_account ON response_conversations (account_id);
  CREATE INDEX response_conversations_master ON response_conversations (master_key_id, id);

  CREATE TABLE response_objects (
    -- The day of the time in the id, counted from the epoch.
    day INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    account_id TEXT NOT NULL,
    user_id TEXT,
    key_id TEXT NOT NULL,
    root_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    previous_id TEXT,
    -- The day of the object before.
    previous_day INTEGER,
    conversation_id TEXT,
    chain_bytes INTEGER NOT NULL,
    model TEXT,
    is_background INTEGER NOT NULL,
    gateway_id TEXT,
    is_cancel_requested INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    master_key_id TEXT NOT NULL,
    sealed_key TEXT NOT NULL,
    -- Last, so that the other columns are read without it.
    ciphertext BLOB NOT NULL,
    PRIMARY KEY (day, id)
  ) STRICT;
  CREATE INDEX response_objects_account ON response_objects (account_id, day, created_at, id);
  CREATE INDEX response_objects_root ON response_objects (root_id, sequence);
  CREATE INDEX response_objects_conversation ON response_objects (conversation_id, day, created_at, id)
    WHERE conversation_id IS NOT NULL;
  CREATE INDEX response_objects_running ON response_objects (gateway_id)
    WHERE status IN ('queued', 'in_progress');
  CREATE INDEX response_objects_master ON response_objects (master_key_id, id);

  -- The objects in the places of conversations: each place is taken once.
  CREATE TABLE response_places (
    conversation_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    day INTEGER NOT NULL,
    object_id TEXT NOT NULL,
    PRIMARY KEY (conversation_id, sequence)
  ) STRICT, WITHOUT ROWID;

  -- The items of objects by their ids. Several objects may have the same item.
  CREATE TABLE response_items (
    object_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    PRIMARY KEY (object_id, item_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX response_items_item ON response_items (item_id, account_id);

  -- Events of background responses, in groups.
  CREATE TABLE response_events (
    day INTEGER NOT NULL,
    response_id TEXT NOT NULL,
    -- The sequence numbers of the first and of the last event of the group.
    first_event INTEGER NOT NULL,
    last_event INTEGER NOT NULL,
    ciphertext BLOB NOT NULL,
    PRIMARY KEY (day, response_id, first_event)
  ) STRICT;

  -- The sum of the bytes of an account's objects and conversations.
  CREATE TABLE response_accounts (account_id TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
};
