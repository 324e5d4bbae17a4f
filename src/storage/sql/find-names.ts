import type { SqlDatabase } from "./statements/database.ts";
import { raw, type Sql, sql } from "./statements/statement.ts";

/** Returns the names of rows of a table by their ids. `condition` restricts the rows. */
export async function findNames(
  database: SqlDatabase,
  table: "api_keys" | "accounts" | "teams",
  ids: readonly string[],
  condition: Sql = sql`1 = 1`,
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const wanted = database.traits.listAs(
    "wanted",
    { id: "text" },
    ids.map((id) => [id]),
  );
  const rows = await database.run(
    sql<{ id: string; name: string }>`SELECT id, name FROM ${raw(table)}
      WHERE id IN (SELECT wanted.id FROM ${wanted}) AND ${condition}`,
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
