import type { Clock, Timer } from "../../src/base/clock.ts";

interface Pending {
  dueMs: number;
  /** Set for what repeats. */
  readonly periodMs: number | null;
  readonly callback: () => void;
}

/** A clock whose time passes only when a test says so. */
export interface TestClock extends Clock {
  /** Lets `ms` pass; what falls due is called in its order, at its time. */
  advance(ms: number): void;
  /** Timers that have neither run out nor been cancelled. */
  readonly pendingTimers: number;
}

/** Makes a clock that stands at `startMs` (milliseconds since the epoch). */
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

  return {
    now: () => nowMs,
    after: (delayMs, callback) => schedule(delayMs, null, callback),
    every: (periodMs, callback) => schedule(periodMs, periodMs, callback),
    advance(ms) {
      const untilMs = nowMs + ms;
      for (let due = findDue(untilMs); due !== null; due = findDue(untilMs)) {
        nowMs = due.dueMs;
        if (due.periodMs === null) pending.delete(due);
        else due.dueMs += due.periodMs;
        due.callback();
      }
      nowMs = untilMs;
    },
    get pendingTimers() {
      return pending.size;
    },
  };
}
