import { readIdTime } from "../../../base/secrets/ids.ts";
import type {
  Conversation,
  ObjectHead,
  ObjectOwner,
  StoredObject,
} from "../../../core/response-objects/records/response-object.ts";
import type { ObjectChange } from "../../../core/response-objects/records/response-store.ts";
import { dayOfId } from "../statements/day-of-id.ts";
import { raw, type Sql, sql } from "../statements/statement.ts";
import { bytes, flag, integer, Table, text } from "../statements/table.ts";
import { type Integer, readInteger } from "../statements/values.ts";

/** What a row has of a head. The time at which it expires is that of its chain. */
type HeadRow = Omit<ObjectHead, "expiresAt">;

interface ObjectRow extends HeadRow {
  /** The days in the ids of the object and of the one before it, by which rows are partitioned. */
  readonly day: number;
  readonly previousDay: number | null;
  readonly masterKeyId: string;
  readonly sealedKey: string;
  readonly ciphertext: Uint8Array;
}

const OWNER = { accountId: text, userId: text, keyId: text };
/** The sealed data key and what is encrypted with it, which is the last column, so that others are read without it. */
const SEALED = { masterKeyId: text, sealedKey: text, ciphertext: bytes };

const HEAD = {
  id: text,
  kind: text,
  status: text,
  ...OWNER,
  rootId: text,
  sequence: integer,
  previousId: text,
  conversationId: text,
  chainBytes: integer,
  model: text,
  isBackground: flag,
  gatewayId: text,
  isCancelRequested: flag,
  bytes: integer,
  createdAt: integer,
  endedAt: integer,
};

const HEADS = new Table<HeadRow>("response_objects", HEAD);
const OBJECTS = new Table<ObjectRow>("response_objects", {
  day: integer,
  ...HEAD,
  previousDay: integer,
  ...SEALED,
});

interface ConversationRow extends ObjectOwner {
  readonly id: string;
  readonly bytes: number;
  readonly createdAt: number;
  readonly masterKeyId: string;
  readonly sealedKey: string;
  readonly ciphertext: Uint8Array;
}

const CONVERSATIONS = new Table<ConversationRow>("response_conversations", {
  id: text,
  ...OWNER,
  bytes: integer,
  createdAt: integer,
  ...SEALED,
});

/** A row with the time at which its chain expires. */
interface FoundRow {
  readonly expires_at: Integer;
}

interface SealedFoundRow extends FoundRow {
  readonly master_key_id: string;
  readonly sealed_key: string;
  readonly ciphertext: Uint8Array;
}

/** Objects `o` with their chains `c`. */
export const OBJECTS_IN_CHAINS: Sql = raw(
  "response_objects AS o JOIN response_chains AS c ON c.root_id = o.root_id",
);

/** The condition that an object `o` still runs. The partial index on running responses has the same text. */
export const IS_RUNNING: Sql = raw("o.status IN ('queued', 'in_progress')");

/** Returns the condition that an object `o` runs at a gateway; null: that it was released. */
export function runsAt(gatewayId: string | null): Sql {
  const isThere = gatewayId === null ? sql`o.gateway_id IS NULL` : sql`o.gateway_id = ${gatewayId}`;
  return sql`${IS_RUNNING} AND ${isThere}`;
}

/** Returns the condition that an object `o` has an id. */
export function isObject(id: string): Sql {
  return sql`o.day = ${dayOfId(id)} AND o.id = ${id}`;
}

/** Returns ids by their days, the earliest first. */
export function groupByDay(ids: readonly string[]): [number, string[]][] {
  return [...Map.groupBy(ids, dayOfId)].sort(([a], [b]) => a - b);
}

/** Returns a statement that reads whole objects. `rest` begins with WHERE. */
export function selectObjects(rest: Sql): Sql<SealedFoundRow> {
  return sql`SELECT o.*, c.expires_at FROM ${OBJECTS_IN_CHAINS} ${rest}`;
}

/** Returns a statement that reads heads. `rest` begins with WHERE. */
export function selectHeads(rest: Sql): Sql<FoundRow> {
  return sql`SELECT ${HEADS.columnsOf("o")}, c.expires_at FROM ${OBJECTS_IN_CHAINS} ${rest}`;
}

/** Reads a row of `selectHeads`. */
export function readHead(row: FoundRow): ObjectHead {
  return { ...HEADS.read(row), expiresAt: readInteger(row.expires_at) };
}

/** Reads a row of `selectObjects`. */
export function readObject(row: SealedFoundRow): StoredObject {
  return { ...readHead(row), sealed: readSealed(row), ciphertext: row.ciphertext };
}

/** Returns a statement that inserts an object, unless it exists. It returns a row if it has inserted one. */
export function insertObject({ sealed, ...object }: StoredObject): Sql {
  const { previousId } = object;
  const row: ObjectRow = {
    ...object,
    createdAt: readIdTime(object.id) ?? object.createdAt,
    day: dayOfId(object.id),
    previousDay: previousId === null ? null : dayOfId(previousId),
    masterKeyId: sealed.masterKeyId,
    sealedKey: sealed.ciphertext,
  };
  return sql`${OBJECTS.insertNew([row])} RETURNING 1 AS one`;
}

/** The columns of a running response that change. */
const CHANGING = ["status", "gatewayId", "bytes", "chainBytes", "endedAt", "ciphertext"] as const;

/** Returns the SET clause for a running response. */
export function setChange(change: ObjectChange): Sql {
  return OBJECTS.set(change, CHANGING);
}

/** Returns the SET clause for the contents of an object. */
export function setContent(content: Pick<StoredObject, "bytes" | "ciphertext">): Sql {
  return OBJECTS.set(content, ["bytes", "ciphertext"]);
}

/** Returns a statement that reads conversations `v`. `rest` begins with WHERE. */
export function selectConversations(rest: Sql): Sql<SealedFoundRow> {
  return sql`SELECT v.*, c.expires_at FROM response_conversations AS v
    JOIN response_chains AS c ON c.root_id = v.id ${rest}`;
}

/** Reads a row of `selectConversations`. */
export function readConversation(row: SealedFoundRow): Conversation {
  const { masterKeyId: _master, sealedKey: _key, ...conversation } = CONVERSATIONS.read(row);
  return { ...conversation, sealed: readSealed(row), expiresAt: readInteger(row.expires_at) };
}

/** Returns a statement that inserts a conversation, unless it exists. It returns a row if it has inserted one. */
export function insertConversation({ sealed, ...conversation }: Conversation): Sql {
  const { masterKeyId, ciphertext: sealedKey } = sealed;
  return sql`${CONVERSATIONS.insertNew([{ ...conversation, masterKeyId, sealedKey }])} RETURNING 1 AS one`;
}

function readSealed(row: SealedFoundRow) {
  return { masterKeyId: row.master_key_id, ciphertext: row.sealed_key };
}
