import type {
  PromptLogEntry,
  PromptLogHead,
  PromptLogStore,
} from "../../core/extensions/prompt-log/prompt-log-store.ts";
import type { SealedSecret } from "../../core/provider-keys/records.ts";
import { listMasterKeys } from "./list-master-keys.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { join, sql } from "./statements/statement.ts";
import { type Integer, readInteger } from "./statements/values.ts";

interface HeadRow {
  generation_id: string;
  account_id: string;
  master_key_id: string;
  sealed_key: string;
}

interface EntryRow extends HeadRow {
  key_id: string;
  created_at: Integer;
  expires_at: Integer;
  ciphertext: Uint8Array;
}

/** The prompt log. */
export class SqlPromptLogStore implements PromptLogStore {
  constructor(private readonly database: SqlDatabase) {}

  async addEntries(entries: readonly PromptLogEntry[]) {
    if (entries.length === 0) return;
    const rows = entries.map(
      ({ id, accountId, keyId, createdAt, expiresAt, sealed, ciphertext }) =>
        sql`(${id}, ${accountId}, ${keyId}, ${createdAt}, ${expiresAt}, ${sealed.masterKeyId},
          ${sealed.ciphertext}, ${ciphertext})`,
    );
    await this.database.run(
      sql`INSERT INTO prompt_log
          (generation_id, account_id, key_id, created_at, expires_at, master_key_id, sealed_key, ciphertext)
        VALUES ${join(rows, ", ")} ON CONFLICT DO NOTHING`,
    );
  }

  async findEntry(id: string, now: number) {
    const [row] = await this.database.run(
      sql<EntryRow>`SELECT * FROM prompt_log WHERE generation_id = ${id} AND expires_at > ${now}`,
    );
    return row === undefined ? null : readEntry(row);
  }

  async hasEntry(id: string, now: number) {
    const rows = await this.database.run(
      sql`SELECT 1 AS one FROM prompt_log WHERE generation_id = ${id} AND expires_at > ${now}`,
    );
    return rows.length > 0;
  }

  async deleteExpired(now: number, limit: number) {
    // Rows that another process is deleting are skipped.
    const removed = await this.database.run(
      sql`DELETE FROM prompt_log WHERE generation_id IN
          (SELECT generation_id FROM prompt_log WHERE expires_at <= ${now} LIMIT ${limit} FOR UPDATE SKIP LOCKED)
        RETURNING 1`,
    );
    return removed.length;
  }

  async listSealedByOthers(masterKeyId: string, afterId: string | null, limit: number) {
    const rows = await this.database.run(
      sql<HeadRow>`SELECT generation_id, account_id, master_key_id, sealed_key FROM prompt_log
        WHERE master_key_id <> ${masterKeyId} AND generation_id > ${afterId ?? ""}
        ORDER BY generation_id LIMIT ${limit}`,
    );
    return rows.map(readHead);
  }

  async reseal(id: string, before: SealedSecret, after: SealedSecret) {
    const replaced = await this.database.run(
      sql`UPDATE prompt_log SET master_key_id = ${after.masterKeyId}, sealed_key = ${after.ciphertext}
        WHERE generation_id = ${id} AND master_key_id = ${before.masterKeyId}
          AND sealed_key = ${before.ciphertext} RETURNING 1`,
    );
    return replaced.length === 1;
  }

  listMasterKeysInUse() {
    return listMasterKeys(this.database, "prompt_log");
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
    createdAt: readInteger(row.created_at),
    expiresAt: readInteger(row.expires_at),
    ciphertext: row.ciphertext,
  };
}
