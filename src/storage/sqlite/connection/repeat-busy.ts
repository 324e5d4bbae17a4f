import type { Clock } from "../../../base/time/clock.ts";

/** The pause between two attempts. Milliseconds. */
const PAUSE_MS = 100;
/** Attempts in five seconds. */
const MAX_FAILURES = 42;

/**
 * Repeats calls of a store, for at most about five seconds, while another process writes to the database. Waiting inside SQLite would
 * block its thread. Each method of a store must write in one transaction or one statement.
 */
export function repeatWhileBusy(clock: Clock): (error: unknown, failures: number) => Promise<boolean> {
  return async (error, failures) => {
    if (!isBusy(error) || failures >= MAX_FAILURES) return false;
    // The timers of the clock let the process end.
    const hold = setInterval(() => {}, PAUSE_MS);
    await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve));
    clearInterval(hold);
    return true;
  };
}

function isBusy(error: unknown): boolean {
  return ((error as { readonly code?: unknown } | null)?.code ?? "").toString().startsWith("SQLITE_BUSY");
}
