import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DATABASE_FILE, MANIFEST_FILE } from "./manifest.ts";
import { removeAbandoned } from "./partial-backup.ts";

/** The names that `nameBackup` gives. They sort by time. */
const NAME = /^gateway-\d{8}T\d{6}Z$/;

/**
 * Prepares a folder of backups for the next backup, and returns the path of that backup. Removes what interrupted backups have left. `now`
 * is in milliseconds since the epoch.
 * @throws Error if the folder is itself a backup or a data directory.
 */
export function prepareFolder(folder: string, now: number): string {
  const found = [MANIFEST_FILE, DATABASE_FILE].find((name) => existsSync(join(folder, name)));
  if (found !== undefined)
    throw new Error(
      `${folder} has a ${found}: it is a backup or a data directory. Choose a folder for backups, or a new name.`,
    );
  removeAbandoned(folder, (name) => NAME.test(name));
  return join(folder, nameBackup(now));
}

/** Returns the name of a backup that is made now, in UTC: `gateway-20261123T162537Z`. `now` is in milliseconds since the epoch. */
function nameBackup(now: number): string {
  const [time = ""] = new Date(now).toISOString().split(".");
  return `gateway-${time.replaceAll(/[-:]/g, "")}Z`;
}

/**
 * Removes all but the newest `keep` backups of a folder and returns the names of those that it removed. Only complete backups with names
 * of `nameBackup` count and are removed.
 */
export function removeOldBackups(folder: string, keep: number): readonly string[] {
  const backups = listBackups(folder);
  const old = backups.slice(0, Math.max(0, backups.length - keep));
  for (const name of old) rmSync(join(folder, name), { recursive: true });
  return old;
}

/** Returns the path of the newest backup if `path` is a folder of backups; otherwise returns `path` itself. */
export function findNewestBackup(path: string): string {
  const isFolder = existsSync(path) && statSync(path).isDirectory();
  const newest = isFolder ? listBackups(path).at(-1) : undefined;
  return newest === undefined ? path : join(path, newest);
}

/** Lists the names of the complete backups in a folder, the oldest first. */
function listBackups(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => NAME.test(name) && existsSync(join(folder, name, MANIFEST_FILE)))
    .sort();
}
