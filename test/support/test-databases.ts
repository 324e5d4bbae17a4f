import { resolve } from "node:path";
import { SQL } from "bun";

/**
 * The URL of a migrated PostgreSQL database, of which each data directory gets a copy. Absent: gateways of the tests run on SQLite.
 * `npm run test:postgres` sets it.
 */
const TEMPLATE = process.env["GATEWAY_TEST_POSTGRES"] || undefined;

/** Whether the gateways of the tests run on PostgreSQL. */
export const ON_POSTGRES = TEMPLATE !== undefined;

/** The URL of the database of each data directory, by absolute path. */
const databases = new Map<string, Promise<string>>();
let made = 0;

/**
 * Returns the variables that give the processes of a data directory their database: the same for each, and none on SQLite. The
 * database is created for the first.
 */
export async function databaseVariables(dataDir: string): Promise<{ readonly DATABASE_URL?: string }> {
  if (TEMPLATE === undefined) return {};
  const key = resolve(dataDir);
  const known = databases.get(key) ?? createDatabase(TEMPLATE);
  databases.set(key, known);
  return { DATABASE_URL: await known };
}

/** Drops the databases of a data directory and of those inside it. Processes that use them lose their connections. */
export async function dropDatabases(dataDir: string): Promise<void> {
  const folder = resolve(dataDir);
  for (const [key, url] of databases) {
    if (key !== folder && !key.startsWith(`${folder}/`)) continue;
    databases.delete(key);
    await asAdmin(await url, (sql, name) => sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  }
}

async function createDatabase(template: string): Promise<string> {
  made += 1;
  const name = `test_${process.pid}_${made}`;
  await asAdmin(template, (sql, source) =>
    sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY file_copy`),
  );
  return withName(template, name);
}

/** Connects to the server of a database, and calls `work` with the name of the database. */
async function asAdmin(url: string, work: (sql: SQL, name: string) => Promise<unknown>): Promise<void> {
  const sql = new SQL({ url: withName(url, "postgres"), max: 1 });
  try {
    await work(sql, new URL(url).pathname.slice(1));
  } finally {
    await sql.close({ timeout: 0 });
  }
}

function withName(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
