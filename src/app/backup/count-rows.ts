import type { Database } from "bun:sqlite";

/** The tables whose rows a backup counts: those that an operator recognizes, and those whose loss is expensive. */
const COUNTED = ["accounts", "api_keys", "provider_keys", "generations", "transfers", "audit_log"] as const;

/** Counts the rows of the most important tables, by table. */
export function countRows(database: Database): Record<string, number> {
  const count = (table: string): number =>
    database.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0;
  return Object.fromEntries(COUNTED.map((table) => [table, count(table)]));
}
