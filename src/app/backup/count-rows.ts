import type { Database } from "bun:sqlite";
import { type DatabaseFile, RESPONSES_FILE } from "../../storage/sqlite/connection/database.ts";

/** The tables whose rows a backup counts: those that an operator recognizes, and those whose loss is expensive. */
const COUNTED = ["accounts", "api_keys", "provider_keys", "generations", "transfers", "audit_log"] as const;
/** The same of the database of response objects. */
const COUNTED_RESPONSES = ["response_objects", "response_conversations"] as const;

/** Counts the rows of the most important tables of a database file, by table. */
export function countRows(database: Database, file: DatabaseFile): Record<string, number> {
  const count = (table: string): number =>
    database.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0;
  const tables = file === RESPONSES_FILE ? COUNTED_RESPONSES : COUNTED;
  return Object.fromEntries(tables.map((table) => [table, count(table)]));
}
