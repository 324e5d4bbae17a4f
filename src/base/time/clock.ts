import { createSteadyTime } from "./steady-time.ts";

/** A running timer; `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

/**
 * The only source of time. It is passed to everything that waits or records a time, so that tests run with a test clock and do not
 * sleep.
 */
export interface Clock {
  /** Wall time in whole milliseconds since the epoch. It never goes back. */
  now(): number;
  /** Milliseconds with fractions since an arbitrary moment. Only for durations: it does not tell the time of day. */
  precise(): number;
  /** Calls `callback` once, `delayMs` from now. Does not keep the process alive. */
  after(delayMs: number, callback: () => void): Timer;
  /** Calls `callback` every `periodMs` until cancelled. Does not keep the process alive. */
  every(periodMs: number, callback: () => void): Timer;
}

/** The clock of the system, whose time never goes back (`createSteadyTime`). */
export const systemClock: Clock = {
  now: createSteadyTime(Date.now, () => performance.now()),
  precise: () => performance.now(),
  after(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
  every(periodMs, callback) {
    const handle = setInterval(callback, periodMs);
    handle.unref();
    return { cancel: () => clearInterval(handle) };
  },
};
