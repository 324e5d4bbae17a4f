import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { lockFile } from "../../storage/sqlite/connection/data-lock.ts";

const SUFFIX = ".partial";

/** The lock file of a backup in progress. The process that writes the backup holds the lock. */
export const WRITER_LOCK = "writer.db";

/** Returns the folder in which a backup is written until it is complete. */
export function partialOf(target: string): string {
  return `${target}${SUFFIX}`;
}

/** Removes backups that were being written when their process died. `isName` tells the names of backups from others. */
export function removeAbandoned(folder: string, isName: (name: string) => boolean): void {
  const partial = readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
  for (const name of partial.filter((one) => isName(one.slice(0, -SUFFIX.length)))) {
    const path = join(folder, name);
    const lock = existsSync(join(path, WRITER_LOCK)) ? lockFile(join(path, WRITER_LOCK)) : null;
    if (lock === null) continue;
    lock.release();
    rmSync(path, { recursive: true, force: true });
  }
}
