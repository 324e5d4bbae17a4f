import type { Database } from "bun:sqlite";
import { OLDEST_SCHEMA_SETTING } from "../../../core/storage-copy/tables.ts";
import { MIGRATIONS } from "./list.ts";
import type { SqliteMigration } from "./migration.ts";

/** The version of the tables of a database file. */
export interface SqliteSchema {
  /** The number of steps that were applied; 0 if the file has no tables. */
  readonly version: number;
  /** The lowest schema version whose code works on the file. */
  readonly oldestVersion: number;
}

/** How the tables of a file or a backup relate to this program. `known` is the number of its own steps. */
type SchemaFit = "older" | "same" | "newer" | "incompatible";

/** Returns how the tables relate to those of this program. It can share `newer` tables, and rejects `incompatible` ones. */
export function compareSchema(
  { version, oldestVersion }: SqliteSchema,
  known = MIGRATIONS.length,
): SchemaFit {
  if (oldestVersion > known) return "incompatible";
  if (version > known) return "newer";
  return version < known ? "older" : "same";
}

/**
 * Returns the version of the tables. A file has its oldest version in the settings if that is not the version itself. Programs that do not
 * know this setting open no file of a newer version.
 */
export function readSchema(database: Database): SqliteSchema {
  const { user_version: version } = database.query("PRAGMA user_version").get() as { user_version: number };
  const hasSettings = database.query("SELECT 1 FROM sqlite_schema WHERE name = 'settings'").get() !== null;
  if (!hasSettings) return { version, oldestVersion: version };
  const row = database
    .query<{ value: string }, [string]>("SELECT value FROM settings WHERE name = ?")
    .get(OLDEST_SCHEMA_SETTING);
  return { version, oldestVersion: row === null ? version : Number(row.value) };
}

/**
 * Applies the steps that a database lacks, in one transaction. Returns the versions of its tables before and after.
 * @throws Error if a newer version has migrated it and this one cannot share it.
 */
export function migrate(
  database: Database,
  steps: readonly SqliteMigration[] = MIGRATIONS,
): { readonly before: number; readonly after: number } {
  const found = readSchema(database);
  if (compareSchema(found, steps.length) === "incompatible")
    throw new Error("the database was written by a newer version of the gateway; install that version");
  if (found.version >= steps.length) return { before: found.version, after: found.version };
  // Immediate: if two processes start together, one migrates and the other waits.
  return database.transaction(() => applyMissing(database, steps)).immediate();
}

function applyMissing(database: Database, steps: readonly SqliteMigration[]) {
  const { version: before, oldestVersion } = readSchema(database);
  const missing = steps.slice(before);
  if (missing.length === 0) return { before, after: before };
  for (const { sql } of missing) database.exec(sql);
  database.exec(`PRAGMA user_version = ${steps.length}`);
  const oldest = Math.max(oldestVersion, ...steps.map((step) => step.oldestVersion));
  if (oldest === steps.length)
    database.query("DELETE FROM settings WHERE name = ?").run(OLDEST_SCHEMA_SETTING);
  else database.query(PUT_SETTING).run(OLDEST_SCHEMA_SETTING, String(oldest));
  return { before, after: steps.length };
}

const PUT_SETTING =
  "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value";
