import type {
  PromptLogEntry,
  PromptLogHead,
  PromptLogStore,
} from "../../core/extensions/prompt-log/prompt-log-store.ts";
import type { SealedSecret } from "../../core/provider-keys/records.ts";
import { encodeList, type SqlRunner } from "./client.ts";
import { listMasterKeys } from "./provider-key-store.ts";
import { readInteger } from "./values.ts";

interface HeadRow {
  generation_id: string;
  account_id: string;
  master_key_id: string;
  sealed_key: string;
}

interface EntryRow extends HeadRow {
  key_id: string;
  created_at: string;
  expires_at: string;
  ciphertext: Uint8Array;
}

/** The prompt log in PostgreSQL. */
export class PostgresPromptLogStore implements PromptLogStore {
  constructor(private readonly database: SqlRunner) {}

  async addEntries(entries: readonly PromptLogEntry[]) {
    await this.database.run(
      `INSERT INTO prompt_log
         (generation_id, account_id, key_id, created_at, expires_at, master_key_id, sealed_key, ciphertext)
       SELECT * FROM unnest($1::text::text[], $2::text::text[], $3::text::text[], $4::text::bigint[],
         $5::text::bigint[], $6::text::text[], $7::text::text[], $8::text::bytea[]) ON CONFLICT DO NOTHING`,
      [
        encodeList(entries.map(({ id }) => id)),
        encodeList(entries.map(({ accountId }) => accountId)),
        encodeList(entries.map(({ keyId }) => keyId)),
        encodeList(entries.map(({ createdAt }) => createdAt)),
        encodeList(entries.map(({ expiresAt }) => expiresAt)),
        encodeList(entries.map(({ sealed }) => sealed.masterKeyId)),
        encodeList(entries.map(({ sealed }) => sealed.ciphertext)),
        encodeList(entries.map(({ ciphertext }) => `\\x${Buffer.from(ciphertext).toString("hex")}`)),
      ],
    );
  }

  async findEntry(id: string, now: number) {
    const [row] = await this.database.run<EntryRow>(
      "SELECT * FROM prompt_log WHERE generation_id = $1 AND expires_at > $2",
      [id, now],
    );
    return row === undefined ? null : readEntry(row);
  }

  async hasEntry(id: string, now: number) {
    const rows = await this.database.run(
      "SELECT 1 AS one FROM prompt_log WHERE generation_id = $1 AND expires_at > $2",
      [id, now],
    );
    return rows.length > 0;
  }

  async deleteExpired(now: number, limit: number) {
    // Rows that another process is deleting are skipped.
    const removed = await this.database.run(
      `DELETE FROM prompt_log WHERE generation_id IN
         (SELECT generation_id FROM prompt_log WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING 1`,
      [now, limit],
    );
    return removed.length;
  }

  async listSealedByOthers(masterKeyId: string, afterId: string | null, limit: number) {
    const rows = await this.database.run<HeadRow>(
      `SELECT generation_id, account_id, master_key_id, sealed_key FROM prompt_log
       WHERE master_key_id <> $1 AND generation_id > $2 ORDER BY generation_id LIMIT $3`,
      [masterKeyId, afterId ?? "", limit],
    );
    return rows.map(readHead);
  }

  async reseal(id: string, before: SealedSecret, after: SealedSecret) {
    const replaced = await this.database.run(
      `UPDATE prompt_log SET master_key_id = $4, sealed_key = $5
       WHERE generation_id = $1 AND master_key_id = $2 AND sealed_key = $3 RETURNING 1`,
      [id, before.masterKeyId, before.ciphertext, after.masterKeyId, after.ciphertext],
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
