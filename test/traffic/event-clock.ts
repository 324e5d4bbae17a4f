import type { Clock } from "../../src/base/time/clock.ts";
import { turnEventLoop } from "../support/event-loop.ts";

/** A clock that advances from event to event. */
export interface EventClock extends Clock {
  /** Runs everything that is due until `untilMs`, each at its time, with everything that follows from it. */
  run(untilMs: number): Promise<void>;
}

interface Entry {
  dueMs: number;
  readonly order: number;
  callback: (() => void) | null;
}

/** Creates a clock at `startMs`. */
export function createEventClock(startMs: number): EventClock {
  let nowMs = startMs;
  let orders = 0;
  /** A binary heap with the earliest timer on top. A cancelled timer stays until it would be due. */
  const heap: Entry[] = [];

  const isBefore = (a: Entry, b: Entry): boolean =>
    a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);

  const push = (entry: Entry): void => {
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(entry, heap[above] as Entry)) break;
      heap[at] = heap[above] as Entry;
      at = above;
    }
    heap[at] = entry;
  };

  const pop = (): Entry => {
    const top = heap[0] as Entry;
    const last = heap.pop() as Entry;
    if (heap.length === 0) return top;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1] as Entry, heap[below] as Entry)) below += 1;
      if (!isBefore(heap[below] as Entry, last)) break;
      heap[at] = heap[below] as Entry;
      at = below;
    }
    heap[at] = last;
    return top;
  };

  const after = (delayMs: number, callback: () => void) => {
    const entry: Entry = { dueMs: nowMs + Math.max(0, delayMs), order: orders++, callback };
    push(entry);
    return {
      cancel() {
        entry.callback = null;
      },
    };
  };

  return {
    now: () => nowMs,
    precise: () => nowMs,
    after,
    every(periodMs, callback) {
      let timer = after(periodMs, function again() {
        timer = after(periodMs, again);
        callback();
      });
      return { cancel: () => timer.cancel() };
    },
    async run(untilMs) {
      for (let top = heap[0]; top !== undefined && top.dueMs <= untilMs; top = heap[0]) {
        const { callback, dueMs } = pop();
        if (callback === null) continue;
        nowMs = Math.max(nowMs, dueMs);
        callback();
        await turnEventLoop(TURNS);
      }
      nowMs = untilMs;
    },
  };
}

/** A record waits for the end of its turn and an attempt for its record, so one event needs several turns. */
const TURNS = 3;
