import { resolve } from "node:path";
import { RedisClient, SQL } from "bun";

/**
 * The URL of a migrated PostgreSQL database, of which each data directory gets a copy. Absent: gateways of the tests run on SQLite.
 * `npm run suite -- postgres` sets it.
 */
const TEMPLATE = process.env["GATEWAY_TEST_POSTGRES"] || undefined;

/** The URL of a Redis server, of which each data directory gets a numbered database. Absent without `GATEWAY_TEST_POSTGRES`. */
const REDIS = process.env["GATEWAY_TEST_REDIS"] || undefined;

/** Whether the gateways of the tests run on PostgreSQL. */
export const ON_POSTGRES = TEMPLATE !== undefined;

/** The databases of each data directory, by absolute path. */
const databases = new Map<string, Promise<CreatedDatabases>>();
let made = 0;

/**
 * Returns the variables that give the processes of a data directory their database: the same for each, and none on SQLite. The
 * database is created for the first.
 */
export async function databaseVariables(dataDir: string): Promise<DatabaseVariables> {
  if (TEMPLATE === undefined) return {};
  const key = resolve(dataDir);
  const known = databases.get(key) ?? createDatabases(TEMPLATE);
  databases.set(key, known);
  return known;
}

/** Returns the Redis of the gateways on a database: those that share a database must share it too. */
export async function redisOf(databaseUrl: string): Promise<string | undefined> {
  for (const created of databases.values()) {
    const { DATABASE_URL, REDIS_URL } = await created;
    if (DATABASE_URL === databaseUrl) return REDIS_URL;
  }
  return undefined;
}

/** Variables of the environment of a gateway: none on SQLite. */
export type DatabaseVariables = Partial<CreatedDatabases>;

interface CreatedDatabases {
  readonly DATABASE_URL: string;
  readonly REDIS_URL?: string;
}

/** Drops the databases of a data directory and of those inside it. Processes that use them lose their connections. */
export async function dropDatabases(dataDir: string): Promise<void> {
  const folder = resolve(dataDir);
  for (const [key, created] of databases) {
    if (key !== folder && !key.startsWith(`${folder}/`)) continue;
    databases.delete(key);
    await asAdmin((await created).DATABASE_URL, (sql, name) =>
      sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
    );
  }
}

async function createDatabases(template: string): Promise<CreatedDatabases> {
  const url = await createDatabase(template);
  return { DATABASE_URL: url, ...(REDIS === undefined ? {} : { REDIS_URL: await numberDatabase(REDIS) }) };
}

/** Returns the URL of an unused numbered database of Redis. Database 0 has the last number, for all processes that run tests. */
async function numberDatabase(url: string): Promise<string> {
  const client = new RedisClient(url, { autoReconnect: false });
  try {
    return `${url}/${await client.send("INCR", ["last"])}`;
  } finally {
    client.close();
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
