import { afterAll, afterEach, beforeAll, beforeEach, describe } from "bun:test";
import type { Lease, Leases } from "../../../src/base/time/lease.ts";
import type { Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { PostgresLeases } from "../../../src/storage/postgres/gateways/leases.ts";
import { type DatabaseClock, stopDatabaseClock } from "../../support/databases/database-clock.ts";
import { openTestPostgres } from "../../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";
import { testLeases } from "../contracts/money/leases.ts";

describe.skipIf(POSTGRES_BIN === null)("leases in PostgreSQL", () => {
  let server: TestPostgres;
  let url: string;
  let databaseClock: DatabaseClock;
  const opened: Postgres[] = [];

  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    url = await server.createMigratedDatabase();
    databaseClock = await stopDatabaseClock(url, createTestClock().now());
  });
  afterEach(async () => {
    await databaseClock.close();
    for (const connection of opened.splice(0)) await connection.close();
  });

  testLeases((clock) => {
    const database = openTestPostgres(url, 2);
    opened.push(database);
    return onClock(new PostgresLeases(database), clock);
  });

  /** Sets the clock of the database to the test's before each call. */
  function onClock(leases: Leases, clock: TestClock): Leases {
    return {
      async acquire(request) {
        await databaseClock.set(clock.now());
        const lease = await leases.acquire(request);
        return lease === null ? null : leaseOnClock(lease, clock);
      },
    };
  }

  function leaseOnClock(lease: Lease, clock: TestClock): Lease {
    return {
      name: lease.name,
      owner: lease.owner,
      get endsAt() {
        return lease.endsAt;
      },
      async renew(durationMs) {
        await databaseClock.set(clock.now());
        return lease.renew(durationMs);
      },
      async release() {
        await databaseClock.set(clock.now());
        await lease.release();
      },
    };
  }
});
