import type { Database } from "bun:sqlite";

/** Returns the names of rows of a table by their ids. */
export function findNames(
  database: Database,
  table: "api_keys" | "accounts",
  ids: readonly string[],
): ReadonlyMap<string, string> {
  const found = database.query<{ id: string; name: string }, [string]>(
    `SELECT id, name FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`,
  );
  return new Map(found.all(JSON.stringify(ids)).map(({ id, name }) => [id, name]));
}
