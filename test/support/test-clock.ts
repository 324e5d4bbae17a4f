import type { Clock, Timer } from "../../src/base/time/clock.ts";

interface Pending {
  dueMs: number;
  /** Set for a repeating timer. */
  readonly periodMs: number | null;
  readonly callback: () => void;
}

/** A clock whose time advances only when a test says so. */
export interface TestClock extends Clock {
  /** Advances by `ms`; timers are called in order, each at its time. */
  advance(ms: number): void;
  /** Advances by `ms` at once: a repeating timer is called once, however often it was due. */
  leap(ms: number): void;
  /** Advances to the time of the first timer, and calls it. */
  advanceToTimer(): void;
  /** Timers that have neither fired nor been cancelled. */
  readonly pendingTimers: number;
}

/** Creates a clock at `startMs` (milliseconds since the epoch). */
export function createTestClock(startMs = 1_700_000_000_000): TestClock {
  let nowMs = startMs;
  const pending = new Set<Pending>();

  function schedule(delayMs: number, periodMs: number | null, callback: () => void): Timer {
    const entry = { dueMs: nowMs + delayMs, periodMs, callback };
    pending.add(entry);
    return { cancel: () => void pending.delete(entry) };
  }

  function findDue(untilMs: number): Pending | null {
    let first: Pending | null = null;
    for (const entry of pending) {
      if (entry.dueMs <= untilMs && (first === null || entry.dueMs < first.dueMs)) first = entry;
    }
    return first;
  }

  /**
   * Advances the clock. `countRounds` returns by how many periods a repeating timer is postponed after a call.
   */
  function pass(
    ms: number,
    countRounds: (entry: Pending, periodMs: number, untilMs: number) => number,
  ): void {
    const untilMs = nowMs + ms;
    for (let due = findDue(untilMs); due !== null; due = findDue(untilMs)) {
      nowMs = due.dueMs;
      if (due.periodMs === null) pending.delete(due);
      else due.dueMs += due.periodMs * countRounds(due, due.periodMs, untilMs);
      due.callback();
    }
    nowMs = untilMs;
  }

  return {
    now: () => nowMs,
    precise: () => nowMs,
    after: (delayMs, callback) => schedule(delayMs, null, callback),
    every: (periodMs, callback) => schedule(periodMs, periodMs, callback),
    advance: (ms) => pass(ms, () => 1),
    advanceToTimer: () => pass((findDue(Number.POSITIVE_INFINITY)?.dueMs ?? nowMs) - nowMs, () => 1),
    leap: (ms) => pass(ms, ({ dueMs }, periodMs, untilMs) => Math.floor((untilMs - dueMs) / periodMs) + 1),
    get pendingTimers() {
      return pending.size;
    },
  };
}
