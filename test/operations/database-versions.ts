import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { hashSecret, hintOf } from "../../src/core/accounts/records/secrets.ts";
import { PLATFORM_ACCOUNT } from "../../src/core/ledger/records/records.ts";
import { MIGRATIONS as POSTGRES_MIGRATIONS } from "../../src/storage/postgres/migrations/list.ts";
import { migratePostgres } from "../../src/storage/postgres/migrations/migrate.ts";
import { MIGRATIONS as SQLITE_MIGRATIONS } from "../../src/storage/sqlite/migrations/list.ts";
import { readSchema, type SqliteSchema } from "../../src/storage/sqlite/migrations/migrate.ts";
import { openTestPostgres } from "../support/databases/open-postgres.ts";

/** Version 0.1 had the tables of these migrations of SQLite. */
const SQLITE_VERSION_0_1 = 8;
/** The first migrations of PostgreSQL with accounts, records, the ledger and leases. */
const FIRST_POSTGRES_VERSION = 4;

/** A user with an API key and a grant, as an early version of the gateway has stored them. */
export interface FormerUser {
  readonly id: string;
  readonly secret: string;
  /** Nanodollars. */
  readonly granted: number;
}

/** Replaces the database of a data directory, or the PostgreSQL database at `url`, with that of an early version. */
export async function writeFormerDatabase(
  dataDir: string,
  url: string | undefined,
  user: FormerUser,
): Promise<void> {
  if (url !== undefined) return writeFormerPostgres(url, user);
  mkdirSync(dataDir);
  const database = new Database(join(dataDir, "gateway.db"), { create: true, strict: true });
  for (const { sql } of SQLITE_MIGRATIONS.slice(0, SQLITE_VERSION_0_1)) database.exec(sql);
  database.exec(`PRAGMA user_version = ${SQLITE_VERSION_0_1};
    ${accountOf(user)}
    INSERT INTO transfers (id, kind, from_account, to_account, amount, created_at)
    VALUES ('grant_1', 'grant', '${PLATFORM_ACCOUNT}', '${user.id}', ${user.granted}, 1);
    INSERT INTO balances (account_id, amount) VALUES ('${user.id}', ${user.granted});`);
  database.close();
}

async function writeFormerPostgres(url: string, user: FormerUser): Promise<void> {
  await queryAt(url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  const database = openTestPostgres(url);
  await migratePostgres(database, POSTGRES_MIGRATIONS.slice(0, FIRST_POSTGRES_VERSION));
  await database.close();
  await queryAt(
    url,
    `${accountOf(user)}
    INSERT INTO credits (id, kind, from_account, to_account, amount, created_at, from_charged, to_charged)
    VALUES ('grant_1', 'grant', '${PLATFORM_ACCOUNT}', '${user.id}', ${user.granted}, 1, 0, 0);
    INSERT INTO balances (account_id, amount, credited, version) VALUES ('${user.id}', ${user.granted}, ${user.granted}, 1);`,
  );
}

/** The statements that insert a user with its key, which all versions of both databases have alike. */
function accountOf({ id, secret }: FormerUser): string {
  return `
    INSERT INTO accounts (id, kind, name, overdraft, policy, created_at) VALUES ('${id}', 'user', 'Former', 0, '{}', 1);
    INSERT INTO api_keys (id, kind, account_id, name, hash, hint, created_at)
    VALUES ('key_1', 'inference', '${id}', 'former', '${hashSecret(secret)}', '${hintOf(secret)}', 1);`;
}

/** Marks a database as one that a later version, with which this one cannot share it, has migrated. Returns a function that undoes it. */
export async function markAsNewer(dataDir: string, url: string | undefined): Promise<() => Promise<void>> {
  if (url === undefined) {
    const { version, oldestVersion } = setSqliteSchema(dataDir, {
      version: SQLITE_MIGRATIONS.length + 1,
      oldestVersion: SQLITE_MIGRATIONS.length + 1,
    });
    return async () => void setSqliteSchema(dataDir, { version, oldestVersion });
  }
  const version = POSTGRES_MIGRATIONS.length + 1;
  await queryAt(
    url,
    `INSERT INTO schema_migrations (version, name, oldest_version) VALUES (${version}, 'later', ${version})`,
  );
  return () => queryAt(url, `DELETE FROM schema_migrations WHERE version = ${version}`);
}

/** Sets the schema that a file says it has. Returns the former one. */
function setSqliteSchema(dataDir: string, { version, oldestVersion }: SqliteSchema): SqliteSchema {
  const database = new Database(join(dataDir, "gateway.db"));
  const before = readSchema(database);
  database.exec(`PRAGMA user_version = ${version};
    INSERT INTO settings (name, value) VALUES ('oldest_schema', '${oldestVersion}')
      ON CONFLICT DO UPDATE SET value = excluded.value`);
  database.close();
  return before;
}

async function queryAt(url: string, text: string): Promise<void> {
  const sql = new SQL({ url, max: 1 });
  try {
    await sql.unsafe(text);
  } finally {
    await sql.close({ timeout: 0 });
  }
}
