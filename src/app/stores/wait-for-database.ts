import type { Log } from "../../base/failures/log.ts";
import { StoreError } from "../../base/failures/store-error.ts";
import type { Clock } from "../../base/time/clock.ts";
import { sqlStateOf } from "../../storage/postgres/connection/client.ts";

/** The pause between two attempts to open the stores. Milliseconds. */
const RETRY_MS = 2_000;

/**
 * States after which a database may be usable later: failed connections, too many connections, a server that starts or stops, and a
 * read-only server during a failover.
 */
const TRANSIENT = /^(08|53|57)|^25006$/;

/** How to wait for a database. */
interface DatabaseWait {
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds. */
  readonly maxWaitMs: number;
}

/** Opens the stores, again and again while their database is unavailable. Rejects with the last failure after the maximum wait. */
export async function waitForDatabase<Stores>(
  open: () => Promise<Stores>,
  { clock, log, maxWaitMs }: DatabaseWait,
): Promise<Stores> {
  const until = clock.now() + maxWaitMs;
  // The timers of the clock let the process end.
  const hold = setInterval(() => {}, RETRY_MS);
  try {
    for (;;) {
      try {
        return await open();
      } catch (error) {
        const leftMs = until - clock.now();
        if (leftMs <= 0 || !isTransient(error)) throw error;
        log.warn("waiting for the database", { detail: detailOf(error), gives_up_in_ms: leftMs });
        await new Promise<void>((resolve) => void clock.after(Math.min(RETRY_MS, leftMs), resolve));
      }
    }
  } finally {
    clearInterval(hold);
  }
}

function isTransient(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof StoreError ? error.cause : error;
  if (!(cause instanceof StoreError)) return false;
  const state = sqlStateOf(cause);
  return state === null || TRANSIENT.test(state);
}

function detailOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
