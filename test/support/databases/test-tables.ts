import { SQL } from "bun";
import { openGatewayDatabase } from "./gateway-database.ts";
import { databaseVariables } from "./test-databases.ts";

/**
 * Runs a statement on the database of a data directory, which is SQLite's or PostgreSQL's, past all stores. Returns its rows. Tables
 * of both have the same names and columns, as far as tests use them.
 */
export async function queryTables<Row extends object>(
  dataDir: string,
  text: string,
): Promise<readonly Row[]> {
  const { DATABASE_URL: url } = await databaseVariables(dataDir);
  if (url !== undefined) return queryPostgres<Row>(url, text);
  const database = openGatewayDatabase(dataDir);
  try {
    return database.query<Row, []>(text).all();
  } finally {
    database.close();
  }
}

async function queryPostgres<Row extends object>(url: string, text: string): Promise<readonly Row[]> {
  const sql = new SQL({ url, max: 1 });
  try {
    return [...(await sql.unsafe<Row[]>(text))];
  } finally {
    await sql.close({ timeout: 0 });
  }
}

/** Returns all rows of all tables of a data directory's PostgreSQL database as text; an empty text on SQLite. */
export async function dumpTables(dataDir: string): Promise<string> {
  const { DATABASE_URL: url } = await databaseVariables(dataDir);
  if (url === undefined) return "";
  const tables = await queryPostgres<{ name: string }>(
    url,
    "SELECT format('%I', tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const dumps = [];
  for (const { name } of tables)
    dumps.push(
      await queryPostgres<{ rows: string | null }>(
        url,
        `SELECT string_agg(t::text, ' ') AS rows FROM ${name} AS t`,
      ),
    );
  return dumps.flatMap((rows) => rows.map((row) => row.rows ?? "")).join("\n");
}
