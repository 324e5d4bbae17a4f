import { startTestPostgres } from "../../test/support/databases/postgres.ts";
import { adoptServer, pinRunning } from "./processes.ts";

/** A database server of the bench, with an empty database. */
interface BenchDatabase {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL with its own defaults, in particular fsync and synchronous commits, in the folder for temporary files. It shares
 * a core with the load, as if it were on another machine than the target.
 */
export async function startDatabase(): Promise<BenchDatabase> {
  const server = await startTestPostgres({ fsync: "on" });
  const stop = adoptServer(() => server.remove());
  pinRunning("harness", server.pid);
  return { url: await server.createDatabase(), pid: server.pid, stop };
}
