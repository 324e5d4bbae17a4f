import { Database } from "bun:sqlite";
import { join } from "node:path";

/**
 * Holds a data directory for one gateway. The lock is the operating system's on an open file, so it is gone with the
 * process, however that ends.
 * @throws Error when another process holds it.
 */
export function lockDataDir(dataDir: string): { release(): void } {
  const lock = new Database(join(dataDir, "lock.db"), { create: true });
  try {
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version = 1; COMMIT");
  } catch {
    lock.close();
    throw new Error(
      `another gateway is running on ${dataDir}; stop it, or set GATEWAY_DATA_DIR to another directory`,
    );
  }
  return { release: () => lock.close() };
}
