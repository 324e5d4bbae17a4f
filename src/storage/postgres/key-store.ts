import type { KeyRateLimit } from "../../core/accounts/fields/rate-limit.ts";
import type { KeyRecord } from "../../core/accounts/records/records.ts";
import type { KeyQuery, KeyStore, KeyUse } from "../../core/accounts/stores/key-store.ts";
import { encodeList, type Postgres, type SqlRunner } from "./client.ts";
import { findNames } from "./find-names.ts";
import { type KnownRevisions, Revision } from "./revision.ts";
import { encodeNullableJson, readInteger, readNullableInteger, readNullableJson } from "./values.ts";

interface KeyRow {
  id: string;
  kind: KeyRecord["kind"];
  account_id: string;
  user_id: string | null;
  name: string;
  hash: string;
  hint: string;
  spend_limit: string | null;
  spend_limit_period: KeyRecord["spendLimitPeriod"];
  models: string | null;
  rate_limit: string | null;
  prompt_log_seconds: string | null;
  cache_seconds: string | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  used_at: string | null;
}

/** API keys in PostgreSQL. Every change raises the revision in the same transaction. */
export class PostgresKeyStore implements KeyStore {
  private readonly revision: Revision;

  constructor(
    private readonly database: Postgres,
    revisions?: KnownRevisions,
  ) {
    this.revision = new Revision(database, "keys", revisions);
  }

  async insertKey(key: KeyRecord) {
    const { id, kind, accountId, userId, hash, hint, createdAt, revokedAt, lastUsedAt } = key;
    const fixed = [id, kind, accountId, userId, hash, hint, createdAt, revokedAt, lastUsedAt];
    await this.revision.change((sql) => sql.run(INSERT_KEY, [...fixed, ...encodeSettings(key)]));
  }

  findKey(id: string) {
    return findOne(this.database, "SELECT * FROM api_keys WHERE id = $1", [id]);
  }

  findKeyByHash(hash: string) {
    return findOne(this.database, "SELECT * FROM api_keys WHERE hash = $1", [hash]);
  }

  findKeyNames(ids: readonly string[]) {
    return findNames(this.database, "api_keys", ids);
  }

  async listKeys({ accountId, userId, name, afterId, limit }: KeyQuery = {}) {
    // Ids rise with time.
    const rows = await this.database.run<KeyRow>(
      `SELECT * FROM api_keys WHERE ($1::text IS NULL OR account_id = $1) AND ($2::text IS NULL OR id < $2)
       AND ($4::text IS NULL OR user_id = $4)
       AND ($5::text IS NULL OR name = $5 OR lower(name) = lower($5)) ORDER BY id DESC LIMIT $3::bigint`,
      [accountId ?? null, afterId ?? null, limit ?? null, userId ?? null, name ?? null],
    );
    return rows.map(readKey);
  }

  async listExpiringKeys(after: number, until: number, limit: number) {
    const rows = await this.database.run<KeyRow>(
      `SELECT * FROM api_keys WHERE expires_at > $1::bigint AND expires_at <= $2::bigint AND revoked_at IS NULL
       ORDER BY expires_at, id LIMIT $3::bigint`,
      [after, until, limit],
    );
    return rows.map(readKey);
  }

  async changeKey(id: string, change: (key: KeyRecord) => KeyRecord) {
    const replace = async (sql: SqlRunner) => {
      const key = await findOne(sql, "SELECT * FROM api_keys WHERE id = $1", [id]);
      return key === null ? null : findOne(sql, UPDATE_KEY, [id, ...encodeSettings(change(key))]);
    };
    return this.revision.change(replace, (key) => key !== null);
  }

  async revokeKey(id: string, revokedAt: number) {
    return this.revision.change((sql) =>
      findOne(
        sql,
        "UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2::bigint) WHERE id = $1 RETURNING *",
        [id, revokedAt],
      ),
    );
  }

  async recordKeyUses(uses: readonly KeyUse[]) {
    await this.database.run(RECORD_USES, [
      encodeList(uses.map(({ id }) => id)),
      encodeList(uses.map(({ usedAt }) => usedAt)),
    ]);
  }

  keyRevision() {
    return this.revision.read();
  }

  listChangedKeys(cursor: string | null) {
    return this.revision.listChanged(cursor);
  }
}

const INSERT_KEY = `INSERT INTO api_keys
    (id, kind, account_id, user_id, hash, hint, created_at, revoked_at, used_at,
     name, spend_limit, models, rate_limit, prompt_log_seconds, cache_seconds, expires_at,
     spend_limit_period)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`;

const UPDATE_KEY = `UPDATE api_keys SET name = $2, spend_limit = $3, models = $4, rate_limit = $5,
    prompt_log_seconds = $6, cache_seconds = $7, expires_at = $8, spend_limit_period = $9 WHERE id = $1 RETURNING *`;

/** Locks the rows in the order of their ids, so that two processes that record uses of the same keys cannot block each other. */
const RECORD_USES = `WITH uses AS (
    SELECT id, max(at) AS at FROM unnest($1::text::text[], $2::text::bigint[]) AS used (id, at) GROUP BY id
  ), held AS (
    SELECT id, at FROM api_keys JOIN uses USING (id) WHERE coalesce(used_at, 0) < at ORDER BY id FOR UPDATE OF api_keys
  )
  UPDATE api_keys SET used_at = held.at FROM held WHERE api_keys.id = held.id`;

/** The columns that `changeKey` may change, in the order of the statements. */
function encodeSettings(key: KeyRecord) {
  const { name, spendLimit, spendLimitPeriod, models, rateLimit, promptLog, cache, expiresAt } = key;
  const [patterns, limit] = [encodeNullableJson(models), encodeNullableJson(rateLimit)];
  return [name, spendLimit, patterns, limit, promptLog, cache, expiresAt, spendLimitPeriod];
}

async function findOne(
  sql: SqlRunner,
  text: string,
  values: Parameters<SqlRunner["run"]>[1],
): Promise<KeyRecord | null> {
  const [row] = await sql.run<KeyRow>(text, values);
  return row === undefined ? null : readKey(row);
}

function readKey(row: KeyRow): KeyRecord {
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
