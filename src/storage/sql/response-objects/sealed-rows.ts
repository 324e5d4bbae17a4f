import type { SealedRow } from "../../../core/response-objects/records/response-store.ts";
import type { SqlDatabase } from "../statements/database.ts";
import { raw, sql } from "../statements/statement.ts";

/** The tables with sealed data keys. */
const TABLES = ["response_objects", "response_conversations"] as const;

/**
 * Lists the master keys that seal data keys. Jumps from one key to the next in the index, because there are few keys and many rows.
 */
export async function listMasterKeysInUse(database: SqlDatabase): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (const table of TABLES) {
    const rows = await database.run(
      sql<{ id: string }>`WITH RECURSIVE used (id) AS (
          SELECT min(master_key_id) FROM ${raw(table)}
          UNION ALL
          SELECT (SELECT min(master_key_id) FROM ${raw(table)} WHERE master_key_id > used.id)
          FROM used WHERE used.id IS NOT NULL)
        SELECT id FROM used WHERE id IS NOT NULL`,
    );
    for (const { id } of rows) ids.add(id);
  }
  return [...ids];
}

interface SealedColumns {
  readonly id: string;
  readonly account_id: string;
  readonly master_key_id: string;
  readonly sealed_key: string;
}

/** What to list. */
interface SealedQuery {
  readonly masterKeyId: string;
  readonly afterId: string | null;
  readonly limit: number;
}

/** Lists rows of all tables that other master keys have sealed, by id. Reads each of these keys by the index. */
export async function listSealedByOthers(
  database: SqlDatabase,
  { masterKeyId, afterId, limit }: SealedQuery,
): Promise<readonly SealedRow[]> {
  const others = (await listMasterKeysInUse(database)).filter((id) => id !== masterKeyId);
  const found: SealedColumns[] = [];
  for (const other of others)
    for (const table of TABLES)
      found.push(
        ...(await database.run(
          sql<SealedColumns>`SELECT id, account_id, master_key_id, sealed_key FROM ${raw(table)}
            WHERE master_key_id = ${other} AND id > ${afterId ?? ""} ORDER BY id LIMIT ${limit}::bigint`,
        )),
      );
  return found
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit)
    .map(({ id, account_id, master_key_id, sealed_key }) => ({
      id,
      accountId: account_id,
      sealed: { masterKeyId: master_key_id, ciphertext: sealed_key },
    }));
}
