import type { Log } from "../../base/failures/log.ts";
import type { Clock } from "../../base/time/clock.ts";

/** How often an outage that lasts is logged again. Milliseconds. */
const REMIND_MS = 60_000;

/** Logs an outage: when it begins, once a minute while it lasts, and when it is over. */
export interface OutageLog {
  /** Reports a failure. */
  readonly failed: (error: unknown) => void;
  /** Reports a success. */
  readonly succeeded: () => void;
}

/** The texts of an outage log, and where they go. */
interface OutageLogOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Logged as an error while the outage lasts. */
  readonly failureEvent: string;
  /** Logged when it is over. */
  readonly recoveryEvent: string;
}

/** Creates the log of one kind of outage. */
export function createOutageLog({ log, clock, failureEvent, recoveryEvent }: OutageLogOptions): OutageLog {
  let beganAt: number | null = null;
  let loggedAt = 0;
  return {
    failed(error) {
      const now = clock.now();
      if (beganAt !== null && now - loggedAt < REMIND_MS) return;
      beganAt ??= now;
      loggedAt = now;
      log.error(failureEvent, { detail: String(error), for_ms: now - beganAt });
    },
    succeeded() {
      if (beganAt === null) return;
      log.info(recoveryEvent, { after_ms: clock.now() - beganAt });
      beganAt = null;
    },
  };
}
