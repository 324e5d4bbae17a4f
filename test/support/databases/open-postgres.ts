import { systemClock } from "../../../src/base/time/clock.ts";
import { connectPostgres, type Postgres } from "../../../src/storage/postgres/connection/client.ts";

/** Longer than a machine that other work has stopped needs for a statement. Milliseconds. */
const STATEMENT_MS = 60_000;

/** Connects a test to its database, with a deadline that a slow machine does not reach. The caller closes it. */
export function openTestPostgres(url: string, maxConnections = 1): Postgres {
  return connectPostgres({
    url,
    maxConnections,
    isPooled: false,
    clock: systemClock,
    statementMs: STATEMENT_MS,
  });
}
