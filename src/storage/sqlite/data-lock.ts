import { Database, SQLiteError } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFile } from "../files/private-files.ts";

const GATEWAY_LOCK = "lock.db";

/** How long to wait for a lock: as long as `isDataDirLocked` may read it. Milliseconds. */
const PROBE_MS = 100;

/** Exclusive access to a part of a data directory, until it is released or the process ends. */
export interface DataLock {
  release(): void;
}

/**
 * Locks a data directory for one gateway.
 * @throws LockTakenError if another process holds the lock.
 */
export function lockDataDir(dataDir: string): DataLock {
  return lock(
    join(dataDir, GATEWAY_LOCK),
    `another gateway is running on ${dataDir}; stop it, or set GATEWAY_DATA_DIR to another directory`,
  );
}

/**
 * Locks the master keys of a data directory for one rotation.
 * @throws LockTakenError while another rotation runs.
 */
export function lockRotation(dataDir: string): DataLock {
  return lock(
    join(dataDir, "rotation-lock.db"),
    `another rotation is running on ${dataDir}; wait for its end`,
  );
}

/**
 * Locks the catalog of a data directory for one refresh.
 * @throws LockTakenError while another refresh runs.
 */
export function lockRefresh(dataDir: string): DataLock {
  return lock(join(dataDir, "refresh-lock.db"), `another refresh is running on ${dataDir}; wait for its end`);
}

/** Returns whether a gateway runs on a data directory. */
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

/** Thrown when another process holds a lock. */
export class LockTakenError extends Error {}

/**
 * Locks a file. The operating system releases the lock when the process ends, however it ends.
 * @throws LockTakenError with `problem` if another process holds it; the system's error if the file cannot be used.
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
