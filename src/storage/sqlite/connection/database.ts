import { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFile, makePrivateFolder } from "../../files/private-files.ts";
import { MIGRATIONS } from "../migrations/list.ts";
import { migrate, readSchema, type SqliteSchema } from "../migrations/migrate.ts";
import type { SqliteMigration } from "../migrations/migration.ts";
import { RESPONSE_MIGRATIONS } from "../migrations/responses/list.ts";

/** A database file of a data directory. */
export interface DatabaseFile {
  readonly name: string;
  /** The steps that create and change its tables. */
  readonly steps: readonly SqliteMigration[];
  /** The size of the pages of a new file. */
  readonly pageBytes: number;
}

/** All tables except those of response objects. With large pages, a group of records writes half as many. */
export const GATEWAY_FILE: DatabaseFile = { name: "gateway.db", steps: MIGRATIONS, pageBytes: 8_192 };
/**
 * Response objects. In a file of their own, because megabytes of them must delay neither records nor look-ups. Each is added alone and
 * changes a dozen pages, so that small pages take a quarter less processor time, and half of the writing.
 */
export const RESPONSES_FILE: DatabaseFile = {
  name: "responses.db",
  steps: RESPONSE_MIGRATIONS,
  pageBytes: 4_096,
};
/** The database files of a data directory. Each is created when it is opened first. */
export const DATABASE_FILES: readonly DatabaseFile[] = [GATEWAY_FILE, RESPONSES_FILE];

/** How long a start waits while another process writes. Milliseconds. */
const START_BUSY_MS = 5_000;
/** The same at a later time. Short, because other calls wait: `repeatWhileBusy` waits longer. Milliseconds. */
const BUSY_MS = 20;
/** The size to which the write-ahead log is truncated once the database has its contents. Bytes. */
const MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024;

/**
 * Opens a database of a data directory and migrates its tables. Tables of a newer version that this one can share are not changed.
 * @throws Error if a newer version has written the file and this one cannot share it, or if it is not a database.
 */
export function openDatabase(dataDir: string, file = GATEWAY_FILE): Database {
  return openAndMigrate(dataDir, file).database;
}

/**
 * Opens the database of a data directory, which has the tables of this version, for reading alone. Does not wait for another process that
 * writes.
 * @throws Error if it does not exist or is not a database.
 */
export function openReader(dataDir: string): Database {
  const database = new Database(join(dataDir, GATEWAY_FILE.name), {
    readwrite: true,
    create: false,
    strict: true,
  });
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  database.exec("PRAGMA query_only = true");
  return database;
}

/**
 * Migrates the tables of a data directory, which is created if it does not exist. Returns the names of the steps that were applied.
 * @throws Error as `openDatabase`.
 */
export function migrateDataDir(dataDir: string): readonly string[] {
  makePrivateFolder(dataDir);
  return DATABASE_FILES.flatMap((file) => {
    const { database, before, after } = openAndMigrate(dataDir, file);
    database.close();
    const name = file === GATEWAY_FILE ? "step" : `${file.name}: step`;
    return Array.from({ length: after - before }, (_, index) => `${name} ${before + index + 1}`);
  });
}

/** The size of the database files before and after. Bytes. */
export interface CompactedDatabase {
  readonly before: number;
  readonly after: number;
}

/**
 * Writes the databases of a data directory anew without their free pages, so that the files are as small as possible, and can later shrink
 * while a gateway runs. Needs as much free space as the larger one takes. No gateway may run on the directory.
 */
export function compactDatabases(dataDir: string): CompactedDatabase {
  const files = DATABASE_FILES.map((file) => compactDatabase(dataDir, file));
  return {
    before: files.reduce((sum, { before }) => sum + before, 0),
    after: files.reduce((sum, { after }) => sum + after, 0),
  };
}

function compactDatabase(dataDir: string, file: DatabaseFile): CompactedDatabase {
  const database = openDatabase(dataDir, file);
  try {
    const path = join(dataDir, file.name);
    const before = statSync(path).size;
    database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    database.exec("VACUUM");
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return { before, after: statSync(path).size };
  } finally {
    database.close();
  }
}

/**
 * Returns the version of the tables in a database file of a data directory; null if there is no such file. Changes nothing.
 * @throws Error if the file is not a database.
 */
export function readDataDirSchema(dataDir: string, file = GATEWAY_FILE): SqliteSchema | null {
  const path = join(dataDir, file.name);
  if (!existsSync(path)) return null;
  const database = new Database(path, { readonly: true });
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

function openAndMigrate(dataDir: string, { name, steps, pageBytes }: DatabaseFile): MigratedDatabase {
  const path = join(dataDir, name);
  // Created first, because SQLite would create it readable for all users. The WAL files get its mode.
  makePrivateFile(path);
  const database = new Database(path, { create: true, strict: true });
  database.exec(`PRAGMA busy_timeout = ${START_BUSY_MS}`);
  // Applies to new files.
  database.exec(`PRAGMA page_size = ${pageBytes}`);
  // Applies to new files as well: the pages of what the retention policy has deleted can be given back, a few at a time.
  database.exec("PRAGMA auto_vacuum = INCREMENTAL");
  database.exec("PRAGMA journal_mode = WAL");
  // A group of records is on disk before the journal releases it.
  database.exec("PRAGMA synchronous = FULL");
  // A check of a large ledger reads for half a minute, while the write-ahead log grows. The log must shrink again afterwards.
  database.exec(`PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
  const versions = migrate(database, steps);
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  return { database, ...versions };
}
