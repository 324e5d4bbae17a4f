import type { Clock } from "./clock.ts";

/** Measures how long a task has taken so far, and how much of that it waited for others. */
export class Stopwatch {
  /** Milliseconds of the waits that have ended. */
  waitedMs = 0;
  private readonly startedAt: number;

  constructor(private readonly clock: Pick<Clock, "precise">) {
    this.startedAt = clock.precise();
  }

  /** Milliseconds since the start, with fractions. */
  elapsedMs(): number {
    return this.clock.precise() - this.startedAt;
  }

  /** Milliseconds since the start without the waits, with fractions. */
  workedMs(): number {
    return this.elapsedMs() - this.waitedMs;
  }

  /** Counts the time until a promise settles as waiting. Waits must not overlap. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    const from = this.beginWait();
    try {
      return await promise;
    } finally {
      this.endWait(from);
    }
  }

  /** Begins a wait and returns the value for `endWait`. For callers that await the promise themselves, which saves a promise. */
  beginWait(): number {
    return this.clock.precise();
  }

  /** Ends the wait that began with `beginWait`. */
  endWait(from: number): void {
    this.waitedMs += this.clock.precise() - from;
  }
}
