import { encodeList, type SqlRunner } from "./client.ts";

/** Returns the names of rows of a table by their ids. */
export async function findNames(
  sql: SqlRunner,
  table: "api_keys" | "accounts",
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sql.run<{ id: string; name: string }>(
    `SELECT id, name FROM ${table} WHERE id = ANY($1::text::text[])`,
    [encodeList(ids)],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
