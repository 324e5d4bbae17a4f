import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { lockDataDir } from "../../storage/sqlite/connection/data-lock.ts";
import { type CompactedDatabase, compactDatabases } from "../../storage/sqlite/connection/database.ts";

/** Compacts the databases of a data directory. @throws Error if there is none, or if a gateway is running on it. */
export function compactDataDir(dataDir: string): CompactedDatabase {
  if (!existsSync(join(dataDir, "gateway.db")))
    throw new Error(`${resolve(dataDir)} is not a data directory: it has no gateway.db`);
  const lock = lockDataDir(dataDir);
  try {
    return compactDatabases(dataDir);
  } finally {
    lock.release();
  }
}
