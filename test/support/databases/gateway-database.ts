import { Database } from "bun:sqlite";
import { join } from "node:path";

/** Longer than any thread or process of a gateway writes at once. Milliseconds. */
const BUSY_MS = 60_000;

/** Opens the database of a data directory, past all stores. Statements wait while the gateway, or one of its threads, writes. */
export function openGatewayDatabase(dataDir: string): Database {
  const database = new Database(join(dataDir, "gateway.db"));
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  return database;
}
