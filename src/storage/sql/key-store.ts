import type { KeyRateLimit } from "../../core/accounts/fields/rate-limit.ts";
import type { KeyRecord } from "../../core/accounts/records/records.ts";
import type { KeyQuery, KeyStore, KeyUse } from "../../core/accounts/stores/key-store.ts";
import { findNames } from "./find-names.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { Revision } from "./statements/revision.ts";
import { type Sql, sql, type Work, where } from "./statements/statement.ts";
import {
  encodeNullableJson,
  type Integer,
  readInteger,
  readNullableInteger,
  readNullableJson,
} from "./statements/values.ts";

/** A row of the table of keys. */
export interface KeyRow {
  id: string;
  kind: KeyRecord["kind"];
  account_id: string;
  user_id: string | null;
  name: string;
  hash: string;
  hint: string;
  spend_limit: Integer | null;
  spend_limit_period: KeyRecord["spendLimitPeriod"];
  models: string | null;
  rate_limit: string | null;
  prompt_log_seconds: Integer | null;
  cache_seconds: Integer | null;
  created_at: Integer;
  expires_at: Integer | null;
  revoked_at: Integer | null;
  used_at: Integer | null;
}

/** API keys. Every change raises the revision in the same transaction. */
export class SqlKeyStore implements KeyStore {
  private readonly revision: Revision;

  constructor(protected readonly database: SqlDatabase) {
    this.revision = new Revision(database, "keys");
  }

  async insertKey(key: KeyRecord) {
    await this.revision.change(() => insertKey(key));
  }

  findKey(id: string) {
    return this.find(selectKey(id));
  }

  findKeyByHash(hash: string) {
    return this.find(sql<KeyRow>`SELECT * FROM api_keys WHERE hash = ${hash}`);
  }

  findKeyNames(ids: readonly string[]) {
    return findNames(this.database, "api_keys", ids);
  }

  async listKeys({ accountId, userId, name, afterId, limit }: KeyQuery = {}) {
    const conditions = where(
      accountId == null ? null : sql`account_id = ${accountId}`,
      userId == null ? null : sql`user_id = ${userId}`,
      name == null ? null : sql`lower(name) = lower(${name}::text)`,
      afterId == null ? null : sql`id < ${afterId}`,
    );
    const page = limit === undefined ? sql`` : sql`LIMIT ${limit}::bigint`;
    // Ids rise with time.
    const rows = await this.database.run(
      sql<KeyRow>`SELECT * FROM api_keys ${conditions} ORDER BY id DESC ${page}`,
    );
    return rows.map(readKey);
  }

  async listExpiringKeys(after: number, until: number, limit: number) {
    const rows = await this.database.run(
      sql<KeyRow>`SELECT * FROM api_keys
        WHERE expires_at > ${after}::bigint AND expires_at <= ${until}::bigint AND revoked_at IS NULL
        ORDER BY expires_at, id LIMIT ${limit}::bigint`,
    );
    return rows.map(readKey);
  }

  changeKey(id: string, change: (key: KeyRecord) => KeyRecord) {
    return this.revision.change(
      () => changeKey(id, change),
      (key) => key !== null,
    );
  }

  async revokeKey(id: string, revokedAt: number) {
    const revoke = sql<KeyRow>`UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${revokedAt}::bigint)
      WHERE id = ${id} RETURNING *`;
    return readFirst(await this.revision.change(() => revoke));
  }

  /** Locks the rows in the order of their ids, so that two processes that record uses of the same keys cannot deadlock. */
  async recordKeyUses(uses: readonly KeyUse[]) {
    const rows = uses.map(({ id, usedAt }) => [id, usedAt]);
    const used = this.database.traits.listAs("used", { id: "text", at: "bigint" }, rows);
    await this.database.run(
      sql`WITH uses AS (SELECT used.id, max(used.at) AS at FROM ${used} GROUP BY used.id), held AS (
          SELECT id, at FROM api_keys JOIN uses USING (id) WHERE coalesce(used_at, 0) < at
            ORDER BY id FOR UPDATE OF api_keys
        )
        UPDATE api_keys SET used_at = held.at FROM held WHERE api_keys.id = held.id`,
    );
  }

  keyRevision() {
    return this.revision.read();
  }

  listChangedKeys(cursor: string | null) {
    return this.revision.listChanged(cursor);
  }

  private async find(statement: Sql<KeyRow>): Promise<KeyRecord | null> {
    return readFirst(await this.database.run(statement));
  }
}

function selectKey(id: string): Sql<KeyRow> {
  return sql`SELECT * FROM api_keys WHERE id = ${id}`;
}

function insertKey(key: KeyRecord): Sql {
  return sql`INSERT INTO api_keys
      (id, kind, account_id, user_id, hash, hint, created_at, revoked_at, used_at, name, spend_limit, models,
       rate_limit, prompt_log_seconds, cache_seconds, expires_at, spend_limit_period)
    VALUES (${key.id}, ${key.kind}, ${key.accountId}, ${key.userId}, ${key.hash}, ${key.hint}, ${key.createdAt},
      ${key.revokedAt}, ${key.lastUsedAt}, ${key.name}, ${key.spendLimit}, ${encodeNullableJson(key.models)},
      ${encodeNullableJson(key.rateLimit)}, ${key.promptLog}, ${key.cache}, ${key.expiresAt},
      ${key.spendLimitPeriod})`;
}

function* changeKey(id: string, change: (key: KeyRecord) => KeyRecord): Work<KeyRecord | null> {
  const before = readFirst(yield* selectKey(id));
  if (before === null) return null;
  const key = change(before);
  const changed = yield* sql<KeyRow>`UPDATE api_keys SET name = ${key.name}, spend_limit = ${key.spendLimit},
      models = ${encodeNullableJson(key.models)}, rate_limit = ${encodeNullableJson(key.rateLimit)},
      prompt_log_seconds = ${key.promptLog}, cache_seconds = ${key.cache}, expires_at = ${key.expiresAt},
      spend_limit_period = ${key.spendLimitPeriod}
    WHERE id = ${id} RETURNING *`;
  return readFirst(changed);
}

function readFirst([row]: readonly KeyRow[]): KeyRecord | null {
  return row === undefined ? null : readKey(row);
}

/** Reads a row. */
export function readKey(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    kind: row.kind,
    accountId: row.account_id,
    userId: row.user_id,
    name: row.name,
    hash: row.hash,
    hint: row.hint,
    spendLimit: readNullableInteger(row.spend_limit),
    spendLimitPeriod: row.spend_limit_period,
    models: readNullableJson<string[]>(row.models),
    rateLimit: readNullableJson<KeyRateLimit>(row.rate_limit),
    promptLog: readNullableInteger(row.prompt_log_seconds),
    cache: readNullableInteger(row.cache_seconds),
    createdAt: readInteger(row.created_at),
    expiresAt: readNullableInteger(row.expires_at),
    revokedAt: readNullableInteger(row.revoked_at),
    lastUsedAt: readNullableInteger(row.used_at),
  };
}
