import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { connectPostgres, type Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { createPostgresDatabase } from "../../../src/storage/postgres/connection/sql-database.ts";
import { PostgresResponseStore } from "../../../src/storage/postgres/responses/response-store.ts";
import type { KnownRevisions } from "../../../src/storage/sql/statements/database.ts";
import { createSqlStores } from "../../../src/storage/sql/stores.ts";
import { startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import { createTestClock } from "../../support/test-clock.ts";

/**
 * Gives each test of the calling `describe` a database with all tables of the gateway. Returns a function that opens connections to it,
 * which are closed after the test.
 */
export function usePostgres(): () => Postgres {
  let server: TestPostgres;
  let url: string;
  const opened: Postgres[] = [];
  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    url = await server.createMigratedDatabase();
  });
  afterEach(async () => {
    for (const connection of opened.splice(0)) await connection.close();
  });
  return () => {
    const connection = connectPostgres({ url, maxConnections: 4, isPooled: false, clock: createTestClock() });
    opened.push(connection);
    return connection;
  };
}

/** Returns the store of response objects. */
export function openResponses(database: Postgres): PostgresResponseStore {
  return new PostgresResponseStore({ database, maintenance: database });
}

/** Returns the stores that are written once for all databases. */
export function openSqlStores(database: Postgres, known?: KnownRevisions) {
  return createSqlStores(createPostgresDatabase(database, known));
}
