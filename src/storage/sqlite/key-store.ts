import type { Database } from "bun:sqlite";
import type { KeyRecord } from "../../core/accounts/records.ts";
import type { KeyStore } from "../../core/ports/key-store.ts";

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
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
}

/** Keys in SQLite. Every change raises the revision in the same transaction. */
export function createSqliteKeyStore(database: Database): KeyStore {
  const insert = database.query(
    `INSERT INTO api_keys
       (id, kind, account_id, user_id, name, hash, hint, spend_limit, models, created_at, expires_at, revoked_at)
     VALUES
       ($id, $kind, $accountId, $userId, $name, $hash, $hint, $spendLimit, $models, $createdAt, $expiresAt, $revokedAt)`,
  );
  const revoke = database.query("UPDATE api_keys SET revoked_at = coalesce(revoked_at, $at) WHERE id = $id");
  const raiseRevision = database.query("UPDATE settings SET value = value + 1 WHERE name = 'key_revision'");
  const byId = database.query<KeyRow, [string]>("SELECT * FROM api_keys WHERE id = ?");
  const byHash = database.query<KeyRow, [string]>("SELECT * FROM api_keys WHERE hash = ?");
  const all = database.query<KeyRow, []>("SELECT * FROM api_keys ORDER BY created_at DESC, id DESC");
  const revision = database.query<{ value: string }, []>(
    "SELECT value FROM settings WHERE name = 'key_revision'",
  );

  const insertAndRaise = database.transaction((key: KeyRecord) => {
    insert.run({ ...key, models: key.models === null ? null : JSON.stringify(key.models) });
    raiseRevision.run();
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
    async listKeys() {
      return all.all().map(readRow);
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
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}
