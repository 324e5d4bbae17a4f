import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

/** How often a trouble that lasts is told again. Milliseconds. */
const REMIND_MS = 60_000;

/** Tells the log of a trouble that is met again and again: when it begins, once a minute while it lasts, when it is over. */
export interface TroubleLog {
  /** Met once more. */
  met(error: unknown): void;
  /** Not there any more, if it ever was. */
  isOver(): void;
}

/** A trouble log; `event` is what is told of the trouble, `relief` of its end. */
export function createTroubleLog(log: Log, clock: Clock, event: string, relief: string): TroubleLog {
  let beganAt: number | null = null;
  let toldAt = 0;
  return {
    met(error) {
      const now = clock.now();
      if (beganAt !== null && now - toldAt < REMIND_MS) return;
      beganAt ??= now;
      toldAt = now;
      log.error(event, { detail: String(error), for_ms: now - beganAt });
    },
    isOver() {
      if (beganAt === null) return;
      log.info(relief, { after_ms: clock.now() - beganAt });
      beganAt = null;
    },
  };
}
