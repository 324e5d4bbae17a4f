import type { Database } from "bun:sqlite";
import type {
  PromptLogEntry,
  PromptLogHead,
  PromptLogStore,
} from "../../core/extensions/prompt-log/prompt-log-store.ts";
import type { SealedSecret } from "../../core/provider-keys/records.ts";

interface HeadRow {
  generation_id: string;
  account_id: string;
  master_key_id: string;
  sealed_key: string;
}

interface EntryRow extends HeadRow {
  key_id: string;
  created_at: number;
  expires_at: number;
  ciphertext: Uint8Array;
}

/** The prompt log in SQLite. */
export class SqlitePromptLogStore implements PromptLogStore {
  private readonly insertAll;

  constructor(private readonly database: Database) {
    const insert = database.query(
      `INSERT OR IGNORE INTO prompt_log
         (generation_id, account_id, key_id, created_at, expires_at, master_key_id, sealed_key, ciphertext)
       VALUES ($id, $accountId, $keyId, $createdAt, $expiresAt, $masterKeyId, $sealedKey, $ciphertext)`,
    );
    this.insertAll = database.transaction((entries: readonly PromptLogEntry[]) => {
      for (const { sealed, ...entry } of entries)
        insert.run({ ...entry, masterKeyId: sealed.masterKeyId, sealedKey: sealed.ciphertext });
    });
  }

  async addEntries(entries: readonly PromptLogEntry[]) {
    this.insertAll.immediate(entries);
  }

  async findEntry(id: string, now: number) {
    const find = this.database.query<EntryRow, [string, number]>(
      "SELECT * FROM prompt_log WHERE generation_id = ? AND expires_at > ?",
    );
    const row = find.get(id, now);
    return row === null ? null : readEntry(row);
  }

  async hasEntry(id: string, now: number) {
    const find = this.database.query<object, [string, number]>(
      "SELECT 1 AS one FROM prompt_log WHERE generation_id = ? AND expires_at > ?",
    );
    return find.get(id, now) !== null;
  }

  async deleteExpired(now: number, limit: number) {
    const remove = this.database.query(
      `DELETE FROM prompt_log WHERE generation_id IN
         (SELECT generation_id FROM prompt_log WHERE expires_at <= ? LIMIT ?)`,
    );
    return remove.run(now, limit).changes;
  }

  async listSealedByOthers(masterKeyId: string, afterId: string | null, limit: number) {
    const rows = this.database.query<HeadRow, [string, string, number]>(
      `SELECT generation_id, account_id, master_key_id, sealed_key FROM prompt_log
       WHERE master_key_id <> ? AND generation_id > ? ORDER BY generation_id LIMIT ?`,
    );
    return rows.all(masterKeyId, afterId ?? "", limit).map(readHead);
  }

  async reseal(id: string, before: SealedSecret, after: SealedSecret) {
    const update = this.database.query(
      `UPDATE prompt_log SET master_key_id = $masterKeyId, sealed_key = $sealedKey
       WHERE generation_id = $id AND master_key_id = $beforeMasterKeyId AND sealed_key = $beforeSealedKey`,
    );
    const { changes } = update.run({
      id,
      masterKeyId: after.masterKeyId,
      sealedKey: after.ciphertext,
      beforeMasterKeyId: before.masterKeyId,
      beforeSealedKey: before.ciphertext,
    });
    return changes === 1;
  }

  async listMasterKeysInUse() {
    const ids = this.database.query<{ id: string }, []>(
      "SELECT DISTINCT master_key_id AS id FROM prompt_log",
    );
    return ids.all().map(({ id }) => id);
  }
}

function readHead(row: HeadRow): PromptLogHead {
  return {
    id: row.generation_id,
    accountId: row.account_id,
    sealed: { masterKeyId: row.master_key_id, ciphertext: row.sealed_key },
  };
}

function readEntry(row: EntryRow): PromptLogEntry {
  return {
    ...readHead(row),
    keyId: row.key_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ciphertext: row.ciphertext,
  };
}
