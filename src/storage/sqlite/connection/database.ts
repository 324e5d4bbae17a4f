import { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFile, makePrivateFolder } from "../../files/private-files.ts";
import { migrate, readSchema, type SqliteSchema } from "../migrations/migrate.ts";

/** How long a start waits while another process writes. Milliseconds. */
const START_BUSY_MS = 5_000;
/** The same at a later time. Short, because other calls wait: `repeatWhileBusy` waits longer. Milliseconds. */
const BUSY_MS = 20;
/** The size to which the write-ahead log is truncated once the database has its contents. Bytes. */
const MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024;

/**
 * Opens the embedded database of a data directory and migrates its tables. Tables of a newer version that this one can share are not
 * changed.
 * @throws Error if a newer version has written the file and this one cannot share it, or if it is not a database.
 */
export function openDatabase(dataDir: string): Database {
  return openAndMigrate(dataDir).database;
}

/**
 * Opens the database of a data directory, which has the tables of this version, for reading alone. Does not wait for another process that
 * writes.
 * @throws Error if it does not exist or is not a database.
 */
export function openReader(dataDir: string): Database {
  const database = new Database(join(dataDir, "gateway.db"), {
    readwrite: true,
    create: false,
    strict: true,
  });
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  database.exec("PRAGMA query_only = true");
  return database;
}

/**
 * Migrates the tables of a data directory, which is created if it does not exist. Returns the versions of the tables before and after.
 * @throws Error as `openDatabase`.
 */
export function migrateDataDir(dataDir: string): { readonly before: number; readonly after: number } {
  makePrivateFolder(dataDir);
  const { database, before, after } = openAndMigrate(dataDir);
  database.close();
  return { before, after };
}

/** The size of a database file before and after. Bytes. */
export interface CompactedDatabase {
  readonly before: number;
  readonly after: number;
}

/**
 * Writes the database of a data directory anew without its free pages, so that the file is as small as possible, and can later shrink while
 * a gateway runs. Needs the same amount of free space. No gateway may run on the directory.
 */
export function compactDatabase(dataDir: string): CompactedDatabase {
  const database = openDatabase(dataDir);
  try {
    const file = join(dataDir, "gateway.db");
    const before = statSync(file).size;
    database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    database.exec("VACUUM");
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return { before, after: statSync(file).size };
  } finally {
    database.close();
  }
}

/**
 * Returns the version of the tables in a data directory; null if there is no database. Changes nothing.
 * @throws Error if the file is not a database.
 */
export function readDataDirSchema(dataDir: string): SqliteSchema | null {
  const file = join(dataDir, "gateway.db");
  if (!existsSync(file)) return null;
  const database = new Database(file, { readonly: true });
  try {
    return readSchema(database);
  } finally {
    database.close();
  }
}

/** A database and the versions of its tables until this call and from now on. */
interface MigratedDatabase {
  readonly database: Database;
  readonly before: number;
  readonly after: number;
}

function openAndMigrate(dataDir: string): MigratedDatabase {
  const file = join(dataDir, "gateway.db");
  // Created first, because SQLite would create it readable for all users. The WAL files get its mode.
  makePrivateFile(file);
  const database = new Database(file, { create: true, strict: true });
  database.exec(`PRAGMA busy_timeout = ${START_BUSY_MS}`);
  // Applies to new files: a group of records writes half as many pages.
  database.exec("PRAGMA page_size = 8192");
  // Applies to new files as well: the pages of what the retention policy has deleted can be given back, a few at a time.
  database.exec("PRAGMA auto_vacuum = INCREMENTAL");
  database.exec("PRAGMA journal_mode = WAL");
  // A group of records is on disk before the journal releases it.
  database.exec("PRAGMA synchronous = FULL");
  // A check of a large ledger reads for half a minute, while the write-ahead log grows. The log must shrink again afterwards.
  database.exec(`PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
  const versions = migrate(database);
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  return { database, ...versions };
}
