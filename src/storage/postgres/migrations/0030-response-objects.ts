import type { Migration } from "./migration.ts";

/**
 * Response objects and conversations. `response_objects` and `response_events` are partitioned by the day of the time in the id of the
 * object; `partitions.ts` creates the partitions. Gateways of earlier versions neither write nor read them.
 *
 * A transaction locks chains first, then what is in them, and the sums of accounts last, by their ids.
 */
export const responseObjects: Migration = {
  name: "0030-response-objects",
  oldestVersion: 1,
  sql: `
  -- A chain of objects, or a conversation. All of it expires at one time.
  CREATE TABLE response_chains (
    -- The id of the first object, or of the conversation.
    root_id text COLLATE "C" PRIMARY KEY,
    expires_at bigint NOT NULL,
    -- How many objects it has, and the days of the first and of the last one; null before the first.
    objects bigint NOT NULL,
    first_day integer,
    last_day integer
  );
  CREATE INDEX response_chains_expires ON response_chains (expires_at);

  CREATE TABLE response_conversations (
    id text COLLATE "C" PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    key_id text COLLATE "C" NOT NULL,
    bytes bigint NOT NULL,
    created_at bigint NOT NULL,
    -- The data key of the ciphertext, sealed under this master key.
    master_key_id text COLLATE "C" NOT NULL,
    sealed_key text NOT NULL,
    ciphertext bytea NOT NULL
  );
  CREATE INDEX response_conversations_account ON response_conversations (account_id);
  CREATE INDEX response_conversations_master ON response_conversations (master_key_id, id);

  CREATE TABLE response_objects (
    day integer NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    key_id text COLLATE "C" NOT NULL,
    root_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    previous_id text COLLATE "C",
    -- The day of the object before, so that each step along a chain reads one partition.
    previous_day integer,
    conversation_id text COLLATE "C",
    chain_bytes bigint NOT NULL,
    model text,
    is_background boolean NOT NULL,
    gateway_id text COLLATE "C",
    is_cancel_requested boolean NOT NULL,
    bytes bigint NOT NULL,
    created_at bigint NOT NULL,
    ended_at bigint,
    master_key_id text COLLATE "C" NOT NULL,
    sealed_key text NOT NULL,
    ciphertext bytea NOT NULL,
    PRIMARY KEY (day, id)
  ) PARTITION BY RANGE (day);
  CREATE INDEX response_objects_account ON response_objects (account_id, day, created_at, id);
  CREATE INDEX response_objects_root ON response_objects (root_id, sequence);
  CREATE INDEX response_objects_conversation ON response_objects (conversation_id, day, created_at, id)
    WHERE conversation_id IS NOT NULL;
  CREATE INDEX response_objects_running ON response_objects (gateway_id)
    WHERE status IN ('queued', 'in_progress');
  CREATE INDEX response_objects_master ON response_objects (master_key_id, id);

  -- The objects in the places of conversations: each place is taken once, whatever its partition is.
  CREATE TABLE response_places (
    conversation_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    day integer NOT NULL,
    object_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation_id, sequence)
  );

  -- The items of objects by their ids. Several objects may have the same item. Not partitioned, because an item is looked up without a day.
  CREATE TABLE response_items (
    object_id text COLLATE "C" NOT NULL,
    item_id text COLLATE "C" NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (object_id, item_id)
  );
  CREATE INDEX response_items_item ON response_items (item_id, account_id);

  -- Events of background responses, in groups.
  CREATE TABLE response_events (
    day integer NOT NULL,
    response_id text COLLATE "C" NOT NULL,
    -- The sequence numbers of the first and of the last event of the group.
    first_event bigint NOT NULL,
    last_event bigint NOT NULL,
    ciphertext bytea NOT NULL,
    PRIMARY KEY (day, response_id, first_event)
  ) PARTITION BY RANGE (day);

  -- The sum of the bytes of an account's objects and conversations.
  CREATE TABLE response_accounts (account_id text COLLATE "C" PRIMARY KEY, bytes bigint NOT NULL)
    WITH (fillfactor = 70);

  -- Ciphertexts cannot be compressed.
  ALTER TABLE response_objects ALTER COLUMN ciphertext SET STORAGE EXTERNAL;
  ALTER TABLE response_conversations ALTER COLUMN ciphertext SET STORAGE EXTERNAL;
  ALTER TABLE response_events ALTER COLUMN ciphertext SET STORAGE EXTERNAL;
  `,
};
