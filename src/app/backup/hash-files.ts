import { closeSync, fsyncSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type BackupManifest, JOURNAL_FOLDER, MANIFEST_FILE } from "./manifest.ts";

/** A file of a backup. */
type BackupFile = BackupManifest["files"][number];

/** Returns the SHA-256 hash of a file, reading it piece by piece. */
export async function hashFile(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const piece of Bun.file(path).stream()) hasher.update(piece);
  return hasher.digest("hex");
}

/** Returns the names of the files in a backup except its manifest, sorted. */
function listFiles(backup: string): string[] {
  const inJournal = (name: string): string[] =>
    name === JOURNAL_FOLDER ? readdirSync(join(backup, name)).map((file) => `${name}/${file}`) : [name];
  return readdirSync(backup)
    .flatMap(inJournal)
    .filter((name) => name !== MANIFEST_FILE)
    .sort();
}

/** Describes the files of a backup, and writes them to disk durably. */
export async function describeFiles(backup: string): Promise<BackupFile[]> {
  const files: BackupFile[] = [];
  for (const name of listFiles(backup)) {
    const path = join(backup, name);
    syncPath(path);
    files.push({ name, bytes: statSync(path).size, sha256: await hashFile(path) });
  }
  return files;
}

/** Waits until a file, or the list of a folder's files, is on disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
