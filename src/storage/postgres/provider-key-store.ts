import type { ProviderKeyStore } from "../../core/provider-keys/provider-key-store.ts";
import type {
  KeyFailure,
  KeyUse,
  ProviderKeyRecord,
  SealedSecret,
} from "../../core/provider-keys/records.ts";
import { encodeList, type Postgres, type SqlRunner, type SqlValue } from "./client.ts";
import { type KnownRevisions, Revision } from "./revision.ts";
import { encodeNullableJson, readInteger, readNullableInteger, readNullableJson } from "./values.ts";

interface ProviderKeyRow {
  id: string;
  account_id: string;
  provider: string;
  name: string;
  last_four: string;
  master_key_id: string;
  ciphertext: string;
  position: string;
  enabled: boolean;
  models: string | null;
  members: string | null;
  created_at: string;
  updated_at: string;
  last_used_at: string | null;
  last_error: string | null;
}

/** BYOK keys in PostgreSQL. Every change that other processes must notice raises the revision in the same transaction. */
export class PostgresProviderKeyStore implements ProviderKeyStore {
  private readonly revision: Revision;

  constructor(
    private readonly database: Postgres,
    revisions?: KnownRevisions,
  ) {
    this.revision = new Revision(database, "provider_keys", revisions);
  }

  async insertProviderKey(key: ProviderKeyRecord) {
    const { id, accountId, provider, createdAt, sealed } = key;
    const fixed = [id, accountId, provider, createdAt, sealed.masterKeyId, sealed.ciphertext];
    await this.revision.change((sql) => sql.run(INSERT_KEY, [...fixed, ...encodeSettings(key)]));
  }

  async updateProviderKey(key: ProviderKeyRecord, sealed: SealedSecret | null) {
    const secret = [sealed?.masterKeyId ?? null, sealed?.ciphertext ?? null];
    return this.changeOne(UPDATE_KEY, [key.id, ...secret, ...encodeSettings(key)]);
  }

  async removeProviderKey(id: string) {
    return this.changeOne("DELETE FROM provider_keys WHERE id = $1 RETURNING id", [id]);
  }

  async findProviderKey(id: string) {
    const [row] = await this.database.run<ProviderKeyRow>("SELECT * FROM provider_keys WHERE id = $1", [id]);
    return row === undefined ? null : readRow(row);
  }

  async listProviderKeys(accountId: string) {
    const rows = await this.database.run<ProviderKeyRow>(
      "SELECT * FROM provider_keys WHERE account_id = $1 ORDER BY provider, position, id",
      [accountId],
    );
    return rows.map(readRow);
  }

  providerKeyRevision() {
    return this.revision.read();
  }

  listChangedProviderKeys(cursor: string | null) {
    return this.revision.listChanged(cursor);
  }

  async recordKeyUses(uses: readonly KeyUse[]) {
    const latest = mergeUses(uses);
    if (latest.length === 0) return;
    await this.database.run(RECORD_USES, [
      encodeList(latest.map(({ id }) => id)),
      encodeList(latest.map(({ usedAt }) => usedAt)),
      encodeList(latest.map(({ error }) => encodeNullableJson(error))),
      encodeList(latest.map(({ error }) => error?.at ?? null)),
    ]);
  }

  async listSealedByOthers(masterKeyId: string | null, afterId: string | null, limit: number) {
    const rows = await this.database.run<ProviderKeyRow>(
      "SELECT * FROM provider_keys WHERE master_key_id <> $1 AND id > $2 ORDER BY id LIMIT $3",
      [masterKeyId ?? "", afterId ?? "", limit],
    );
    return rows.map(readRow);
  }

  async reseal(id: string, from: SealedSecret, to: SealedSecret) {
    const replaced = await this.database.run(
      `UPDATE provider_keys SET master_key_id = $4, ciphertext = $5
       WHERE id = $1 AND master_key_id = $2 AND ciphertext = $3 RETURNING id`,
      [id, from.masterKeyId, from.ciphertext, to.masterKeyId, to.ciphertext],
    );
    return replaced.length > 0;
  }

  listMasterKeysInUse() {
    return listMasterKeys(this.database, "provider_keys");
  }

  /** Runs a statement that returns the key that it changes. Returns whether there is one. */
  private changeOne(text: string, values: readonly SqlValue[]): Promise<boolean> {
    return this.revision.change(
      async (sql) => (await sql.run(text, values)).length > 0,
      (isChanged) => isChanged,
    );
  }
}

/** Lists the master keys of a table with sealed secrets. */
export async function listMasterKeys(
  sql: SqlRunner,
  table: "provider_keys" | "prompt_log",
): Promise<readonly string[]> {
  const rows = await sql.run<{ id: string }>(`SELECT DISTINCT master_key_id AS id FROM ${table}`);
  return rows.map(({ id }) => id);
}

const INSERT_KEY = `INSERT INTO provider_keys
    (id, account_id, provider, created_at, master_key_id, ciphertext,
     name, last_four, position, enabled, models, members, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`;

const UPDATE_KEY = `UPDATE provider_keys SET master_key_id = coalesce($2, master_key_id),
    ciphertext = coalesce($3, ciphertext), name = $4, last_four = $5, position = $6, enabled = $7, models = $8,
    members = $9, updated_at = $10
  WHERE id = $1 RETURNING id`;

/** Locks the rows in the order of their ids, so that two processes that record uses of the same keys cannot block each other. */
const RECORD_USES = `WITH uses AS (
    SELECT * FROM unnest($1::text::text[], $2::text::bigint[], $3::text::text[], $4::text::bigint[])
      AS used (id, used_at, error, error_at)
  ), held AS (
    SELECT id FROM provider_keys WHERE id IN (SELECT id FROM uses) ORDER BY id FOR UPDATE
  )
  UPDATE provider_keys AS key SET
    last_used_at = greatest(key.last_used_at, uses.used_at),
    last_error = CASE WHEN uses.error_at >= coalesce((key.last_error::json ->> 'at')::bigint, 0)
      THEN uses.error ELSE key.last_error END
  FROM uses JOIN held ON held.id = uses.id WHERE key.id = uses.id`;

/** Returns one use for each key: the latest, with the latest error. */
function mergeUses(uses: readonly KeyUse[]): readonly KeyUse[] {
  const merged = new Map<string, KeyUse>();
  for (const { id, usedAt, error } of uses) {
    const before = merged.get(id);
    const latest = Math.max(usedAt, before?.usedAt ?? 0);
    merged.set(id, { id, usedAt: latest, error: error ?? before?.error ?? null });
  }
  return [...merged.values()];
}

/** The columns that an update may change, in the order of the statements. */
function encodeSettings(key: ProviderKeyRecord) {
  const { name, lastFour, order, enabled, models, members, updatedAt } = key;
  return [
    name,
    lastFour,
    order,
    enabled,
    encodeNullableJson(models),
    encodeNullableJson(members),
    updatedAt,
  ] as const;
}

function readRow(row: ProviderKeyRow): ProviderKeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    provider: row.provider,
    name: row.name,
    lastFour: row.last_four,
    sealed: { masterKeyId: row.master_key_id, ciphertext: row.ciphertext },
    order: readInteger(row.position),
    enabled: row.enabled,
    models: readNullableJson<string[]>(row.models),
    members: readNullableJson<string[]>(row.members),
    createdAt: readInteger(row.created_at),
    updatedAt: readInteger(row.updated_at),
    lastUsedAt: readNullableInteger(row.last_used_at),
    lastError: readNullableJson<KeyFailure>(row.last_error),
  };
}
