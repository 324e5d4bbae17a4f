import { constants, copyFileSync, existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { makePrivateFolder } from "../../storage/files/private-files.ts";
import { GATEWAY_FILE, RESPONSES_FILE } from "../../storage/sqlite/connection/database.ts";
import { compareSchema } from "../../storage/sqlite/migrations/migrate.ts";
import { hashFile, syncPath } from "./hash-files.ts";
import { type BackupManifest, DATABASE_FILE, JOURNAL_FOLDER, readManifest } from "./manifest.ts";

/** The backup to restore, and its destination. */
interface RestoreRequest {
  readonly backup: string;
  /** A data directory that is empty or does not exist. */
  readonly dataDir: string;
}

/** Files are copied here first, so that an interrupted restore leaves no data directory that looks complete. */
const PARTIAL = "restore.partial";
/** Entries of a new file system, and what an interrupted restore has left. */
const IGNORED = new Set(["lost+found", PARTIAL]);

/**
 * Creates a data directory from a backup, whose files are compared with its manifest. Its gateway gets a new id, and ends the records that
 * were open when the backup was made.
 * @throws Error if the data directory is not empty, the backup is damaged, or its tables are of a newer version that this one cannot share.
 */
export async function restoreBackup({ backup, dataDir }: RestoreRequest): Promise<BackupManifest> {
  const manifest = readManifest(backup);
  requireKnownSchema(manifest);
  requireEmpty(dataDir);
  const partial = join(dataDir, PARTIAL);
  rmSync(partial, { recursive: true, force: true });
  makePrivateFolder(join(partial, JOURNAL_FOLDER));
  try {
    for (const file of manifest.files)
      await copyChecked(join(backup, file.name), join(partial, file.name), file);
    moveIntoPlace(partial, dataDir);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return manifest;
}

function requireKnownSchema({ gateway_version, ...manifest }: BackupManifest): void {
  const { schema_version, oldest_schema_version = schema_version } = manifest;
  const { responses_schema_version = 0, oldest_responses_schema_version = responses_schema_version } =
    manifest;
  const files = [
    { file: GATEWAY_FILE, version: schema_version, oldestVersion: oldest_schema_version },
    {
      file: RESPONSES_FILE,
      version: responses_schema_version,
      oldestVersion: oldest_responses_schema_version,
    },
  ];
  for (const { file, ...schema } of files) {
    const known = file.steps.length;
    if (compareSchema(schema, known) !== "incompatible") continue;
    throw new Error(
      `a newer version of the gateway (${gateway_version}) has made the backup: its ${file.name} has schema ${schema.version}, and this version knows ${known}. Install that version.`,
    );
  }
}

function requireEmpty(dataDir: string): void {
  const found = existsSync(dataDir) ? readdirSync(dataDir).find((name) => !IGNORED.has(name)) : undefined;
  if (found === undefined) return;
  throw new Error(
    `${resolve(dataDir)} is not empty: it has ${found}. Choose another --data-dir, or move the data away; nothing was changed.`,
  );
}

async function copyChecked(from: string, to: string, { sha256 }: { readonly sha256: string }): Promise<void> {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  if ((await hashFile(to)) !== sha256)
    throw new Error(`${from} is damaged: its SHA-256 differs from that in the manifest.`);
  syncPath(to);
}

/** Moves the database last: without it, there is no data directory. */
function moveIntoPlace(partial: string, dataDir: string): void {
  const names = readdirSync(partial).filter((name) => name !== DATABASE_FILE);
  for (const name of [...names, DATABASE_FILE]) renameSync(join(partial, name), join(dataDir, name));
  syncPath(dataDir);
}
