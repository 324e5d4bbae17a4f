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
  /** Lets `ms` pass in one leap: what repeats is called once, however often it fell due meanwhile. */
  leap(ms: number): void;
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

  /** `countRounds` says by how many periods what repeats is put off once it was called. */
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
    after: (delayMs, callback) => schedule(delayMs, null, callback),
    every: (periodMs, callback) => schedule(periodMs, periodMs, callback),
    advance: (ms) => pass(ms, () => 1),
    leap: (ms) => pass(ms, ({ dueMs }, periodMs, untilMs) => Math.floor((untilMs - dueMs) / periodMs) + 1),
    get pendingTimers() {
      return pending.size;
    },
  };
}
