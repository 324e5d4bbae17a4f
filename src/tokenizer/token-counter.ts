import type { Clock, Timer } from "../base/clock.ts";
import type { TokenCounter } from "../core/generation/token-counter.ts";
import { type CountingThread, startCountingThread, type ThreadEvents } from "./counting-thread.ts";

/** How long a caller waits for its count, queueing included. Milliseconds. */
const WAIT_MS = 2_000;
/** Silence after which the thread is replaced. Milliseconds. */
const STUCK_MS = 30_000;
/** Pause before another thread is started after a failure. Milliseconds. */
const REST_MS = 10_000;
/** The most waiting jobs. Their bytes are those of the requests, without a copy. */
const MAX_WAITING = 64;

interface Job {
  readonly texts: readonly Uint8Array[];
  readonly settle: (counts: readonly number[] | null) => void;
  readonly patience: Timer;
}

/** Creates a counter with its own thread, which starts with the first count. */
export function createTokenCounter(
  clock: Clock,
  startThread: (events: ThreadEvents) => CountingThread = startCountingThread,
): TokenCounter {
  const waiting: Job[] = [];
  let running: { readonly job: Job; readonly watchdog: Timer } | null = null;
  let thread: CountingThread | null = null;
  let restUntil = 0;

  function finish(job: Job, counts: readonly number[] | null): void {
    job.patience.cancel();
    job.settle(counts);
  }

  function takeNext(): void {
    while (running === null) {
      const job = waiting.shift();
      if (job === undefined) return;
      thread ??= start();
      if (thread === null) {
        finish(job, null);
        continue;
      }
      running = { job, watchdog: clock.after(STUCK_MS, breakOff) };
      thread.send(pack(job.texts));
    }
  }

  /** Returns null if the thread cannot be started, or during the pause after a failure. */
  function start(): CountingThread | null {
    if (clock.now() < restUntil) return null;
    let started: CountingThread | null = null;
    const isCurrent = () => thread === started;
    try {
      started = startThread({
        onAnswer: ({ counts }) => isCurrent() && endRunning(counts),
        onBroken: () => isCurrent() && breakOff(),
      });
    } catch {
      restUntil = clock.now() + REST_MS;
    }
    return started;
  }

  function endRunning(counts: readonly number[] | null): void {
    const ended = running;
    running = null;
    ended?.watchdog.cancel();
    if (ended !== null) finish(ended.job, counts);
    takeNext();
  }

  function breakOff(): void {
    const broken = thread;
    thread = null;
    restUntil = Math.max(restUntil, clock.now() + REST_MS);
    broken?.stop();
    endRunning(null);
  }

  return {
    count(texts) {
      if (waiting.length >= MAX_WAITING) return Promise.resolve(null);
      return new Promise((resolve) => {
        const leave = () => {
          const at = waiting.indexOf(job);
          if (at >= 0) waiting.splice(at, 1);
          resolve(null);
        };
        const job: Job = { texts, settle: resolve, patience: clock.after(WAIT_MS, leave) };
        waiting.push(job);
        takeNext();
      });
    },
    close() {
      restUntil = Number.POSITIVE_INFINITY;
      for (const job of waiting.splice(0)) finish(job, null);
      if (thread !== null) breakOff();
    },
  };
}

/** Copies texts into memory that can be transferred; the body itself is still needed here. */
function pack(texts: readonly Uint8Array[]): { bytes: Uint8Array<ArrayBuffer>; lengths: readonly number[] } {
  const lengths = texts.map(({ length }) => length);
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const text of texts) {
    bytes.set(text, at);
    at += text.length;
  }
  return { bytes, lengths };
}
