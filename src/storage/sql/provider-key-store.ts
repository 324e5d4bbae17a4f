import type { ProviderKeyStore } from "../../core/provider-keys/provider-key-store.ts";
import type {
  KeyFailure,
  ProviderKeyRecord,
  ProviderKeyUse,
  SealedSecret,
} from "../../core/provider-keys/records.ts";
import { listMasterKeys } from "./list-master-keys.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { Revision } from "./statements/revision.ts";
import { type Sql, sql } from "./statements/statement.ts";
import {
  encodeNullableJson,
  type Integer,
  readInteger,
  readNullableInteger,
  readNullableJson,
} from "./statements/values.ts";

interface ProviderKeyRow {
  id: string;
  account_id: string;
  provider: string;
  name: string;
  last_four: string;
  master_key_id: string;
  secret: string;
  ordinal: Integer;
  /** SQLite returns 0 or 1. */
  enabled: boolean | number;
  models: string | null;
  members: string | null;
  teams: string | null;
  created_at: Integer;
  updated_at: Integer;
  last_used_at: Integer | null;
  last_error: string | null;
}

/** BYOK keys. Every change that other processes must notice raises the revision in the same transaction. */
export class SqlProviderKeyStore implements ProviderKeyStore {
  private readonly revision: Revision;
  private readonly secret: Sql;
  private readonly order: Sql;

  constructor(private readonly database: SqlDatabase) {
    this.revision = new Revision(database, "provider_keys");
    this.secret = database.traits.names.providerKeySecret;
    this.order = database.traits.names.providerKeyOrder;
  }

  async insertProviderKey(key: ProviderKeyRecord) {
    const insert = sql`INSERT INTO provider_keys
        (id, account_id, provider, created_at, master_key_id, ${this.secret}, name, last_four, ${this.order},
         enabled, models, members, teams, updated_at)
      VALUES (${key.id}, ${key.accountId}, ${key.provider}, ${key.createdAt}, ${key.sealed.masterKeyId},
        ${key.sealed.ciphertext}, ${key.name}, ${key.lastFour}, ${key.order}, ${key.enabled},
        ${encodeNullableJson(key.models)}, ${encodeNullableJson(key.members)}, ${encodeNullableJson(key.teams)},
        ${key.updatedAt})`;
    await this.revision.change(() => insert);
  }

  updateProviderKey(key: ProviderKeyRecord, sealed: SealedSecret | null) {
    return this.changeOne(
      sql`UPDATE provider_keys SET master_key_id = coalesce(${sealed?.masterKeyId ?? null}, master_key_id),
          ${this.secret} = coalesce(${sealed?.ciphertext ?? null}, ${this.secret}), name = ${key.name},
          last_four = ${key.lastFour}, ${this.order} = ${key.order}, enabled = ${key.enabled},
          models = ${encodeNullableJson(key.models)}, members = ${encodeNullableJson(key.members)}, teams = ${encodeNullableJson(key.teams)},
          updated_at = ${key.updatedAt}
        WHERE id = ${key.id} RETURNING id`,
    );
  }

  removeProviderKey(id: string) {
    return this.changeOne(sql`DELETE FROM provider_keys WHERE id = ${id} RETURNING id`);
  }

  async findProviderKey(id: string) {
    const [key] = await this.read(sql`WHERE id = ${id}`);
    return key ?? null;
  }

  listProviderKeys(accountId: string) {
    return this.read(sql`WHERE account_id = ${accountId} ORDER BY provider, ${this.order}, id`);
  }

  providerKeyRevision() {
    return this.revision.read();
  }

  listChangedProviderKeys(cursor: string | null) {
    return this.revision.listChanged(cursor);
  }

  /** Locks the rows in the order of their ids, so that two processes that record uses of the same keys cannot deadlock. */
  async recordKeyUses(uses: readonly ProviderKeyUse[]) {
    const latest = mergeUses(uses);
    if (latest.length === 0) return;
    const used = this.database.traits.listAs(
      "used",
      { id: "text", used_at: "bigint", error: "text", error_at: "bigint" },
      latest.map(({ id, usedAt, error }) => [id, usedAt, encodeNullableJson(error), error?.at ?? null]),
    );
    await this.database.run(
      sql`WITH uses AS (SELECT used.id, used.used_at, used.error, used.error_at FROM ${used}), held AS (
          SELECT id FROM provider_keys WHERE id IN (SELECT id FROM uses) ORDER BY id FOR UPDATE
        )
        UPDATE provider_keys AS stored SET
          last_used_at = CASE WHEN stored.last_used_at > uses.used_at
            THEN stored.last_used_at ELSE uses.used_at END,
          last_error = CASE WHEN uses.error_at >= coalesce((stored.last_error::json ->> 'at')::bigint, 0)
            THEN uses.error ELSE stored.last_error END
        FROM uses JOIN held ON held.id = uses.id WHERE stored.id = uses.id`,
    );
  }

  listSealedByOthers(masterKeyId: string | null, afterId: string | null, limit: number) {
    return this.read(
      sql`WHERE master_key_id <> ${masterKeyId ?? ""} AND id > ${afterId ?? ""} ORDER BY id LIMIT ${limit}`,
    );
  }

  async reseal(id: string, from: SealedSecret, to: SealedSecret) {
    const replaced = await this.database.run(
      sql`UPDATE provider_keys SET master_key_id = ${to.masterKeyId}, ${this.secret} = ${to.ciphertext}
        WHERE id = ${id} AND master_key_id = ${from.masterKeyId} AND ${this.secret} = ${from.ciphertext}
        RETURNING id`,
    );
    return replaced.length > 0;
  }

  listMasterKeysInUse() {
    return listMasterKeys(this.database, "provider_keys");
  }

  private async read(rest: Sql): Promise<readonly ProviderKeyRecord[]> {
    const rows = await this.database.run(
      sql<ProviderKeyRow>`SELECT *, ${this.secret} AS secret, ${this.order} AS ordinal FROM provider_keys ${rest}`,
    );
    return rows.map(readRow);
  }

  /** Runs a statement that returns the key that it changes. Returns whether there is such a key. */
  private async changeOne(statement: Sql): Promise<boolean> {
    const isOne = (rows: readonly object[]) => rows.length > 0;
    return isOne(await this.revision.change(() => statement, isOne));
  }
}

/** Returns one use for each key: the latest, with the latest error. */
function mergeUses(uses: readonly ProviderKeyUse[]): readonly ProviderKeyUse[] {
  const merged = new Map<string, ProviderKeyUse>();
  for (const { id, usedAt, error } of uses) {
    const before = merged.get(id);
    const latest = Math.max(usedAt, before?.usedAt ?? 0);
    merged.set(id, { id, usedAt: latest, error: error ?? before?.error ?? null });
  }
  return [...merged.values()];
}

function readRow(row: ProviderKeyRow): ProviderKeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    provider: row.provider,
    name: row.name,
    lastFour: row.last_four,
    sealed: { masterKeyId: row.master_key_id, ciphertext: row.secret },
    order: readInteger(row.ordinal),
    enabled: Boolean(row.enabled),
    models: readNullableJson<string[]>(row.models),
    members: readNullableJson<string[]>(row.members),
    teams: readNullableJson<string[]>(row.teams),
    createdAt: readInteger(row.created_at),
    updatedAt: readInteger(row.updated_at),
    lastUsedAt: readNullableInteger(row.last_used_at),
    lastError: readNullableJson<KeyFailure>(row.last_error),
  };
}
