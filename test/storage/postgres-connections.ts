import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { connectPostgres, type Postgres } from "../../src/storage/postgres/client.ts";
import { startTestPostgres, type TestPostgres } from "../support/postgres.ts";

/**
 * Gives each test of the calling `describe` a database with all tables, on one server. Returns a function that opens connections to it
 * as a further process does; they are closed after the test.
 */
export function usePostgres(): () => Postgres {
  let server: TestPostgres;
  let url: string;
  let opened: Postgres[];
  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    url = await server.createMigratedDatabase();
    opened = [];
  });
  afterEach(async () => {
    for (const connection of opened) await connection.close();
  });
  return () => {
    const connection = connectPostgres({ url, maxConnections: 3, isPooled: false, clock: systemClock });
    opened.push(connection);
    return connection;
  };
}
