import type { Database } from "bun:sqlite";
import type { KeyStore } from "../../core/accounts/key-store.ts";
import type { KeyRateLimit, KeyRecord } from "../../core/accounts/records.ts";

interface KeyRow {
  id: string;
  kind: KeyRecord["kind"];
  account_id: string;
  user_id: string | null;
  name: string;
  hash: string;
  hint: string;
  spend_limit: number | null;
  models: string | null;
  rate_limit: string | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
}

/** Keys in SQLite. Every change raises the revision in the same transaction. */
export function createSqliteKeyStore(database: Database): KeyStore {
  const insert = database.query(
    `INSERT INTO api_keys
       (id, kind, account_id, user_id, name, hash, hint, spend_limit, models, rate_limit, created_at, expires_at,
        revoked_at)
     VALUES
       ($id, $kind, $accountId, $userId, $name, $hash, $hint, $spendLimit, $models, $rateLimit, $createdAt, $expiresAt, $revokedAt)`,
  );
  const revoke = database.query("UPDATE api_keys SET revoked_at = coalesce(revoked_at, $at) WHERE id = $id");
  const update = database.query(
    `UPDATE api_keys SET name = $name, spend_limit = $spendLimit, models = $models, rate_limit = $rateLimit,
     expires_at = $expiresAt WHERE id = $id`,
  );
  const raiseRevision = database.query("UPDATE settings SET value = value + 1 WHERE name = 'key_revision'");
  const byId = database.query<KeyRow, [string]>("SELECT * FROM api_keys WHERE id = ?");
  const byHash = database.query<KeyRow, [string]>("SELECT * FROM api_keys WHERE hash = ?");
  // Ids rise with time.
  const page = database.query<KeyRow, { accountId: string | null; afterId: string | null; limit: number }>(
    `SELECT * FROM api_keys WHERE ($accountId IS NULL OR account_id = $accountId)
     AND ($afterId IS NULL OR id < $afterId) ORDER BY id DESC LIMIT $limit`,
  );
  const revision = database.query<{ value: string }, []>(
    "SELECT value FROM settings WHERE name = 'key_revision'",
  );

  const insertAndRaise = database.transaction((key: KeyRecord) => {
    insert.run({ ...key, models: encode(key.models), rateLimit: encode(key.rateLimit) });
    raiseRevision.run();
  });
  const changeAndRaise = database.transaction((id: string, change: (key: KeyRecord) => KeyRecord) => {
    const row = byId.get(id);
    if (row === null) return null;
    const { name, spendLimit, models, rateLimit, expiresAt } = change(readRow(row));
    update.run({ id, name, spendLimit, models: encode(models), rateLimit: encode(rateLimit), expiresAt });
    raiseRevision.run();
    return readRow(byId.get(id) as KeyRow);
  });
  const revokeAndRaise = database.transaction((id: string, at: number) => {
    revoke.run({ id, at });
    raiseRevision.run();
  });

  return {
    async insertKey(key) {
      insertAndRaise(key);
    },
    async findKeyByHash(hash) {
      const row = byHash.get(hash);
      return row === null ? null : readRow(row);
    },
    async findKey(id) {
      const row = byId.get(id);
      return row === null ? null : readRow(row);
    },
    async listKeys({ accountId, afterId, limit } = {}) {
      // SQLite reads -1 as no limit.
      return page
        .all({ accountId: accountId ?? null, afterId: afterId ?? null, limit: limit ?? -1 })
        .map(readRow);
    },
    async changeKey(id, change) {
      return changeAndRaise.immediate(id, change);
    },
    async revokeKey(id, revokedAt) {
      revokeAndRaise(id, revokedAt);
      const row = byId.get(id);
      return row === null ? null : readRow(row);
    },
    async keyRevision() {
      return Number(revision.get()?.value);
    },
  };
}

function encode(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function readRow(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    kind: row.kind,
    accountId: row.account_id,
    userId: row.user_id,
    name: row.name,
    hash: row.hash,
    hint: row.hint,
    spendLimit: row.spend_limit,
    models: row.models === null ? null : (JSON.parse(row.models) as string[]),
    rateLimit: row.rate_limit === null ? null : (JSON.parse(row.rate_limit) as KeyRateLimit),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}
