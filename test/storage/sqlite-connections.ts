import type { Database } from "bun:sqlite";
import { afterEach, beforeEach } from "bun:test";
import { rmSync } from "node:fs";
import { type DatabaseFile, openDatabase } from "../../src/storage/sqlite/connection/database.ts";
import { makeTempFolder } from "../support/temp-folder.ts";

/**
 * Gives each test of the calling file an empty data directory. Returns a function that opens a connection to its main database, or to
 * another file; connections are closed after the test.
 */
export function useSqlite(file?: DatabaseFile): () => Database {
  let dir: string;
  let connections: Database[];
  beforeEach(() => {
    dir = makeTempFolder("gateway-storage-");
    connections = [];
  });
  afterEach(() => {
    for (const connection of connections) connection.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return () => {
    const connection = openDatabase(dir, file);
    connections.push(connection);
    return connection;
  };
}
