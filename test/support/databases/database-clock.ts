import type { Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { openTestPostgres } from "./open-postgres.ts";

/** The clock of a test database. It stands still, and advances only when a test says so. */
export interface DatabaseClock {
  /** Sets it to a time in milliseconds since the epoch. */
  set(ms: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Replaces the clock of a database: connections that are opened afterwards find this `clock_timestamp` before PostgreSQL's own.
 */
export async function stopDatabaseClock(url: string, startMs: number): Promise<DatabaseClock> {
  const database = openTestPostgres(url);
  const name = new URL(url).pathname.slice(1);
  await database.run("CREATE TABLE stopped_clock (ms bigint NOT NULL)");
  await database.run("INSERT INTO stopped_clock VALUES ($1)", [startMs]);
  await database.run(
    `CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
     'SELECT to_timestamp(ms / 1000.0) FROM public.stopped_clock'`,
  );
  await database.run(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`);
  return {
    set: (ms) => setClock(database, ms),
    close: () => database.close(),
  };
}

async function setClock(database: Postgres, ms: number): Promise<void> {
  await database.run("UPDATE stopped_clock SET ms = $1", [ms]);
}
