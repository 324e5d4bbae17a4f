import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Log } from "../../base/failures/log.ts";
import { makePrivateFolder, PRIVATE_FILE, PRIVATE_FOLDER } from "../../storage/files/private-files.ts";

/** The entries of a data directory that the gateway creates. Others are not touched. */
const OWN_ENTRIES =
  /^((gateway|responses|lock|rotation-lock|refresh-lock)\.db(-\w+)?|secrets\.key(\.\d+)?|catalog[\w-]*\.json(\.\d+\.tmp)?|journal|console-[\w-]+)$/;
const OTHERS = 0o077;
/** The mode bit of shared folders, such as `/tmp`. */
const STICKY = 0o1000;

/** Creates a data directory. If it exists, other users' permissions are removed and a warning is logged. */
export function prepareDataDir(dataDir: string, log: Log): void {
  makePrivateFolder(dataDir);
  const journal = join(dataDir, "journal");
  const entries = readdirSync(dataDir)
    .filter((name) => OWN_ENTRIES.test(name))
    .map((name) => join(dataDir, name));
  const paths = [
    dataDir,
    ...entries,
    ...(entries.includes(journal) ? readdirSync(journal).map((name) => join(journal, name)) : []),
  ];
  const tightened = paths.filter((path) => tighten(path, log));
  if (tightened.length === 0) return;
  log.warn("other users could read the data directory; its files and folders are private now", {
    entries: tightened.length,
    first: tightened[0],
  });
}

/** Removes other users' permissions. Returns whether there were any and they could be removed. */
function tighten(path: string, log: Log): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  // The target of a link may belong to another program.
  if (stats === undefined || stats.isSymbolicLink() || (stats.mode & OTHERS) === 0) return false;
  try {
    if ((stats.mode & STICKY) !== 0) throw new Error("it is shared with other programs");
    chmodSync(path, stats.isDirectory() ? PRIVATE_FOLDER : PRIVATE_FILE);
    return true;
  } catch (error) {
    log.warn("other users can read a part of the data directory, and its mode cannot be changed", {
      path,
      detail: String(error),
    });
    return false;
  }
}

/** Error codes of the system and of SQLite for a disk that is full, unavailable, read-only or not accessible. */
const DISK_CODES = /^(ENOSPC|EDQUOT|EIO|EROFS|EACCES|EPERM|SQLITE_(FULL|IOERR|CANTOPEN|READONLY|PERM)\w*)$/;

/** Returns an error that explains a failure of the data directory's disk, if that is the cause; otherwise `error` itself. */
export function explainDiskFailure(error: unknown, dataDir: string): unknown {
  const cause = findDiskFailure(error, resolve(dataDir));
  if (cause === null) return error;
  return new Error(
    `the data directory ${dataDir} cannot be used: ${cause.message}. Free space on its disk, or give the gateway's user the right to write there.`,
    { cause: error },
  );
}

function findDiskFailure(error: unknown, folder: string): Error | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, path, syscall } = at as NodeJS.ErrnoException;
    if (code === undefined || !DISK_CODES.test(code)) continue;
    // Listening on a forbidden port, and files elsewhere, have the same codes.
    if (path === undefined ? syscall !== "listen" : resolve(path).startsWith(folder)) return at;
  }
  return null;
}
