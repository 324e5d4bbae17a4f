import { join, raw, type Sql, sql } from "./statement.ts";

/**
 * Returns the condition that one of the columns contains a text. The case of ASCII letters does not matter. No index is used: rows are
 * compared in the order of the list until a page is full.
 */
export function contains(columns: readonly string[], text: string): Sql {
  const pattern = `%${text.replace(/[\\%_]/g, "\\$&")}%`;
  const conditions = columns.map(
    (column) => sql`lower(${raw(column)}) LIKE lower(${pattern}::text) ESCAPE '\\'`,
  );
  return sql`(${join(conditions, " OR ")})`;
}
