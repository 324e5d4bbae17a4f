import { Database } from "bun:sqlite";
import { join } from "node:path";
import { makePrivateFile } from "../files/private-files.ts";
import { MIGRATIONS } from "./migrations.ts";

/** How long to wait for another process that writes. Milliseconds. */
const BUSY_MS = 5_000;

/**
 * Opens the embedded database in a data directory and brings its tables up to date.
 * @throws Error when the file was written by a newer version, or is no database.
 */
export function openDatabase(dataDir: string): Database {
  const file = join(dataDir, "gateway.db");
  // Made beforehand, because SQLite would let everybody read it; the files it makes beside it follow its mode.
  makePrivateFile(file);
  const database = new Database(file, { create: true, strict: true });
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  // Taken by a new file: half as many pages to write for a group of records.
  database.exec("PRAGMA page_size = 8192");
  database.exec("PRAGMA journal_mode = WAL");
  // A group of records reaches the disk before the journal lets go of them.
  database.exec("PRAGMA synchronous = FULL");
  migrate(database);
  return database;
}

function migrate(database: Database): void {
  const current = () =>
    (database.query("PRAGMA user_version").get() as { user_version: number }).user_version;
  if (current() > MIGRATIONS.length) {
    throw new Error("the database was written by a newer version of the gateway; install that version");
  }
  // Immediate: of two processes that start together, one migrates and the other finds it done.
  database
    .transaction(() => {
      for (let version = current(); version < MIGRATIONS.length; version++) {
        database.exec(MIGRATIONS[version] as string);
        database.exec(`PRAGMA user_version = ${version + 1}`);
      }
    })
    .immediate();
}
