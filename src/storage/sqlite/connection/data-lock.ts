import { Database, SQLiteError } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFile } from "../../files/private-files.ts";

const GATEWAY_LOCK = "lock.db";

/** How long to wait for a lock: as long as `isDataDirLocked` may hold it. Milliseconds. */
const PROBE_MS = 100;

/** Exclusive access to a file, until it is released or the process ends. */
export interface FileLock {
  release(): void;
}

/** Exclusive access of one gateway to a data directory. */
interface DataDirLock extends FileLock {
  /** Returns the id of the gateway that the data directory belongs to: `initialId` at its first start. */
  gatewayId(initialId: string): string;
}

/**
 * Locks a data directory for one gateway. The id of the gateway is kept in the lock, so that no two processes have the same id at
 * a time, whichever stores they share.
 * @throws Error if another process holds the lock.
 */
export function lockDataDir(dataDir: string): DataDirLock {
  const lock = lockDatabase(join(dataDir, GATEWAY_LOCK));
  if (lock === null)
    throw new Error(
      `another gateway is running on ${dataDir}; stop it, or set GATEWAY_DATA_DIR to another directory`,
    );
  return asDataDirLock(lock);
}

/**
 * Locks the data directory that a gateway has left, to work on its journal. Returns null if there is no such directory on this machine, if
 * it belongs to another gateway, or if a process, even a paused one, has locked it.
 */
export function lockLeftDataDir(dataDir: string, gatewayId: string): FileLock | null {
  if (!existsSync(join(dataDir, GATEWAY_LOCK)) || isDataDirLocked(dataDir)) return null;
  const lock = lockDatabase(join(dataDir, GATEWAY_LOCK));
  if (lock === null) return null;
  // Different machines may have different directories with the same path.
  if (readGatewayId(lock) === gatewayId) return asDataDirLock(lock);
  lock.close();
  return null;
}

/** Returns null if the gateway has ended in its first start before it had an id. */
function readGatewayId(lock: Database): string | null {
  const table = lock.query("SELECT 1 FROM sqlite_master WHERE name = 'gateway'").get();
  return table === null ? null : (lock.query<{ id: string }, []>("SELECT id FROM gateway").get()?.id ?? null);
}

function asDataDirLock(lock: Database): DataDirLock {
  return {
    release: () => lock.close(),
    gatewayId(initialId) {
      lock.exec("CREATE TABLE IF NOT EXISTS gateway (id TEXT NOT NULL)");
      if (readGatewayId(lock) === null) lock.query("INSERT INTO gateway (id) VALUES (?)").run(initialId);
      return readGatewayId(lock) ?? initialId;
    },
  };
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

/** Locks a file. Returns null if another process holds it. @throws the system's error if the file cannot be used. */
export function lockFile(file: string): FileLock | null {
  const lock = lockDatabase(file);
  return lock === null ? null : { release: () => lock.close() };
}

/** Opens a database exclusively. The operating system releases the lock when the process ends, however it ends. */
function lockDatabase(file: string): Database | null {
  makePrivateFile(file);
  const held = new Database(file, { create: true });
  try {
    held.exec(`PRAGMA busy_timeout = ${PROBE_MS}`);
    held.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version = 1; COMMIT");
    return held;
  } catch (error) {
    held.close();
    if (isTaken(error)) return null;
    throw error;
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_BUSY");
}
