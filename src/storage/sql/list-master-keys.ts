import type { SqlDatabase } from "./statements/database.ts";
import { raw, sql } from "./statements/statement.ts";

/** Lists the master keys of a table with sealed secrets. */
export async function listMasterKeys(
  database: SqlDatabase,
  table: "provider_keys" | "prompt_log" | "config_secrets",
): Promise<readonly string[]> {
  const rows = await database.run(
    sql<{ id: string }>`SELECT DISTINCT master_key_id AS id FROM ${raw(table)}`,
  );
  return rows.map(({ id }) => id);
}
