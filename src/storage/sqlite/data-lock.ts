import { Database, SQLiteError } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFile } from "../files/private-files.ts";

const GATEWAY_LOCK = "lock.db";

/** How long a lock is waited for: as long as `isDataDirLocked` may read it. Milliseconds. */
const PROBE_MS = 100;

/** Something that one process alone may do. */
export interface DataLock {
  release(): void;
}

/**
 * Holds a data directory for one gateway.
 * @throws LockTakenError when another process holds it.
 */
export function lockDataDir(dataDir: string): DataLock {
  return lock(
    join(dataDir, GATEWAY_LOCK),
    `another gateway is running on ${dataDir}; stop it, or set GATEWAY_DATA_DIR to another directory`,
  );
}

/**
 * Holds the master keys of a data directory for one rotation.
 * @throws LockTakenError while another one runs.
 */
export function lockRotation(dataDir: string): DataLock {
  return lock(
    join(dataDir, "rotation-lock.db"),
    `another rotation is running on ${dataDir}; wait for its end`,
  );
}

/**
 * Holds the catalog of a data directory for one refresh.
 * @throws LockTakenError while another one runs.
 */
export function lockRefresh(dataDir: string): DataLock {
  return lock(join(dataDir, "refresh-lock.db"), `another refresh is running on ${dataDir}; wait for its end`);
}

/** Whether a gateway holds a data directory. */
export function isDataDirLocked(dataDir: string): boolean {
  const file = join(dataDir, GATEWAY_LOCK);
  if (!existsSync(file)) return false;
  const probe = new Database(file, { readonly: true });
  try {
    probe.query("PRAGMA user_version").get();
    return false;
  } catch (error) {
    if (isTaken(error)) return true;
    throw error;
  } finally {
    probe.close();
  }
}

/** Another process holds the lock. */
export class LockTakenError extends Error {}

/**
 * The lock is the operating system's on an open file, so it is gone with the process, however that ends.
 * @throws LockTakenError with `problem` where another process holds it; the system's error where the file cannot be used.
 */
function lock(file: string, problem: string): DataLock {
  makePrivateFile(file);
  const held = new Database(file, { create: true });
  try {
    held.exec(`PRAGMA busy_timeout = ${PROBE_MS}`);
    held.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version = 1; COMMIT");
  } catch (error) {
    held.close();
    throw isTaken(error) ? new LockTakenError(problem) : error;
  }
  return { release: () => held.close() };
}

function isTaken(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_BUSY");
}
