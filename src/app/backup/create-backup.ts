import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import type { Clock } from "../../base/time/clock.ts";
import { formatTime } from "../../base/time/time.ts";
import { saveJournal } from "../../core/usage/journal/recover-usage.ts";
import { makePrivateFolder, PRIVATE_FILE } from "../../storage/files/private-files.ts";
import { openFileJournal } from "../../storage/journal/file-journal.ts";
import { lockFile } from "../../storage/sqlite/connection/data-lock.ts";
import {
  DATABASE_FILES,
  type DatabaseFile,
  GATEWAY_FILE,
  openDatabase,
  RESPONSES_FILE,
  readDataDirSchema,
} from "../../storage/sqlite/connection/database.ts";
import { compareSchema } from "../../storage/sqlite/migrations/migrate.ts";
import { SqliteUsageStore } from "../../storage/sqlite/usage/usage-store.ts";
import { journalDirOf } from "../stores/stores.ts";
import { type CopyProgress, copyDatabase } from "./copy-database.ts";
import { countRows } from "./count-rows.ts";
import { describeFiles, syncPath } from "./hash-files.ts";
import {
  BACKUP_FORMAT,
  type BackupManifest,
  JOURNAL_FOLDER,
  MANIFEST_FILE,
  MASTER_KEY_FILE,
} from "./manifest.ts";
import { partialOf, WRITER_LOCK } from "./partial-backup.ts";

/** The data directory to back up. */
interface BackupRequest {
  readonly dataDir: string;
  /** The folder that becomes the backup. It must not exist. */
  readonly target: string;
  /** Whether generated master keys are also copied. With them, the backup can decrypt its BYOK keys. */
  readonly includeMasterKeys: boolean;
  readonly onProgress: CopyProgress;
}

/** Files of a data directory that are copied unchanged. Each is always replaced as a whole. */
const PLAIN_FILES = ["catalog.json", "catalog-refresh.json"];

/**
 * Copies a data directory, whether a gateway runs on it or not. Every record that was settled before the call is in the database of the
 * backup. The backup appears under its name when it is complete.
 * @throws Error if the target exists, this version cannot work on the present tables, or a file cannot be read or written.
 */
export async function createBackup(request: BackupRequest, clock: Clock): Promise<BackupManifest> {
  const { dataDir } = request;
  const target = resolve(request.target);
  requireUsableTables(dataDir);
  if (existsSync(target)) throw new Error(`${target} exists. Choose another name for the backup.`);
  const partial = partialOf(target);
  makePrivateFolder(partial);
  const lock = lockFile(join(partial, WRITER_LOCK));
  if (lock === null) throw new Error(`another process is writing the backup ${target}.`);
  try {
    for (const left of readdirSync(partial))
      if (!left.startsWith(WRITER_LOCK)) rmSync(join(partial, left), { recursive: true });
    const described = await fill(partial, request, clock);
    lock.release();
    rmSync(join(partial, WRITER_LOCK));
    const manifest = { ...described, files: await describeFiles(partial) };
    writeManifest(partial, manifest);
    renameSync(partial, target);
    syncPath(dirname(target));
    return manifest;
  } catch (error) {
    lock.release();
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Tables are not migrated for a copy: the backup must fit the gateway that serves from them. */
function requireUsableTables(dataDir: string): void {
  for (const file of DATABASE_FILES) {
    const found = readDataDirSchema(dataDir, file);
    // An earlier version has no response objects.
    if (found === null && file === RESPONSES_FILE) continue;
    if (found === null) throw new Error(`${dataDir} is not a data directory: it has no ${file.name}`);
    if (["same", "newer"].includes(compareSchema(found, file.steps.length))) continue;
    throw new Error(
      `${file.name} in ${dataDir} has schema ${found.version}, and this version of the gateway needs ${file.steps.length}. Make the backup with the version that serves from it.`,
    );
  }
}

async function fill(
  partial: string,
  request: BackupRequest,
  clock: Clock,
): Promise<Omit<BackupManifest, "files">> {
  const { dataDir, includeMasterKeys } = request;
  const createdAt = formatTime(clock.now());
  const keysBefore = includeMasterKeys ? readMasterKeys(dataDir) : [];
  const copy = createCopier(partial, request, clock);
  // First, so that the generation of each object is in the journal or in the database.
  const hasResponses = await copy(RESPONSES_FILE);
  // Before the database: a record leaves the journal only when the database has it.
  copyJournal(journalDirOf(dataDir), join(partial, JOURNAL_FOLDER));
  await copy(GATEWAY_FILE);
  const { merged, rows } = await completeDatabase(partial, clock);
  const responses = hasResponses ? completeResponses(partial) : {};
  for (const name of PLAIN_FILES) copyIfExists(join(dataDir, name), join(partial, name));
  // A rotation may have replaced keys meanwhile that the copied database still needs.
  const keys = includeMasterKeys ? [...new Set([...readMasterKeys(dataDir), ...keysBefore])] : [];
  if (keys.length > 0)
    writeFileSync(join(partial, MASTER_KEY_FILE), `${keys.join("\n")}\n`, { mode: PRIVATE_FILE });
  return {
    format: BACKUP_FORMAT,
    created_at: createdAt,
    gateway_version: packageJson.version,
    ...describeSchema(partial),
    data_dir: resolve(dataDir),
    journal_records: merged,
    includes_master_keys: keys.length > 0,
    rows: { ...rows, ...responses },
  };
}

/** Returns a function that copies a database file of the data directory. It returns whether there is such a file. */
function createCopier(partial: string, { dataDir, onProgress }: BackupRequest, clock: Clock) {
  const sizeOf = ({ name }: DatabaseFile) =>
    statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0;
  const whole = DATABASE_FILES.reduce((sum, file) => sum + sizeOf(file), 0);
  let done = 0;
  return async (file: DatabaseFile): Promise<boolean> => {
    const from = join(dataDir, file.name);
    if (!existsSync(from)) return false;
    await copyDatabase({ from, to: join(partial, file.name) }, clock, (written) =>
      onProgress(done + written, whole),
    );
    done += sizeOf(file);
    return true;
  };
}

type SchemaVersions = Pick<
  BackupManifest,
  "schema_version" | "oldest_schema_version" | "responses_schema_version" | "oldest_responses_schema_version"
>;

function describeSchema(folder: string): SchemaVersions {
  const { version, oldestVersion } = readDataDirSchema(folder) ?? { version: 0, oldestVersion: 0 };
  const responses = readDataDirSchema(folder, RESPONSES_FILE);
  const hasOlder = responses !== null && responses.oldestVersion < responses.version;
  return {
    schema_version: version,
    ...(oldestVersion < version ? { oldest_schema_version: oldestVersion } : {}),
    ...(responses === null ? {} : { responses_schema_version: responses.version }),
    ...(hasOlder ? { oldest_responses_schema_version: responses.oldestVersion } : {}),
  };
}

function readMasterKeys(dataDir: string): readonly string[] {
  const file = join(dataDir, MASTER_KEY_FILE);
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

function copyJournal(from: string, to: string): void {
  makePrivateFolder(to);
  if (!existsSync(from)) return;
  for (const name of readdirSync(from).sort()) {
    copyIfExists(join(from, name), join(to, name));
    // The file may have changed after its records were saved.
    if (!existsSync(join(from, name))) rmSync(join(to, name), { force: true });
  }
}

/** Copies a file that a running gateway may have removed. */
function copyIfExists(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/**
 * Saves the records of the copied journal in the copied database, and releases the open ones from their gateway, so that the next start on
 * the copy ends them. Returns the number of these records, and the row counts of the most important tables.
 */
async function completeDatabase(folder: string, clock: Clock) {
  const database = openDatabase(folder);
  const journal = openFileJournal(join(folder, JOURNAL_FOLDER));
  try {
    const store = new SqliteUsageStore(database);
    const { brought, unknown } = await saveJournal({ journal, store, now: clock.now() });
    journal.skipped([...unknown.keys()]);
    database.exec("UPDATE generations SET gateway_id = NULL WHERE outcome = 'open'");
    database.exec("DELETE FROM settings WHERE name = 'gateway_id'");
    const rows = countRows(database, GATEWAY_FILE);
    // The files of the write-ahead log would belong to the backup.
    database.exec("PRAGMA journal_mode = DELETE");
    return { merged: brought, rows };
  } finally {
    journal.close();
    database.close();
    removeSegments(join(folder, JOURNAL_FOLDER));
  }
}

/** Releases running responses from their gateway, so that the next start on the copy ends them. Returns row counts. */
function completeResponses(folder: string): Record<string, number> {
  const database = openDatabase(folder, RESPONSES_FILE);
  try {
    database.exec("UPDATE response_objects SET gateway_id = NULL WHERE status IN ('queued', 'in_progress')");
    const rows = countRows(database, RESPONSES_FILE);
    database.exec("PRAGMA journal_mode = DELETE");
    return rows;
  } finally {
    database.close();
  }
}

/** Removes the segments of a journal, but keeps entries that are not in the database: those of another version, and damaged ones. */
function removeSegments(journal: string): void {
  for (const name of readdirSync(journal)) if (/^\d+\.log$/.test(name)) rmSync(join(journal, name));
}

function writeManifest(partial: string, manifest: BackupManifest): void {
  const file = join(partial, MANIFEST_FILE);
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`, { flush: true, mode: PRIVATE_FILE });
  syncPath(partial);
}
