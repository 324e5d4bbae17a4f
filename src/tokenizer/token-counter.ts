import { type StartThread, ThreadClient } from "../base/threads/thread-client.ts";
import type { Clock } from "../base/time/clock.ts";
import type { TokenCounter } from "../core/generation/memory/token-counter.ts";
import { type CountingAnswer, type CountingJob, startCountingThread } from "./counting-thread.ts";

/** The bytes of waiting jobs are those of the requests, without a copy. */
const LIMITS = { waitMs: 2_000, stuckMs: 30_000, pauseMs: 10_000, maxWaiting: 64 };

/** All jobs wait in one line. */
const HOLDER = "";

/** Creates a counter with its own thread, which starts with the first count. */
export function createTokenCounter(
  clock: Clock,
  startThread: StartThread<CountingJob, CountingAnswer> = startCountingThread,
): TokenCounter {
  const thread = new ThreadClient(clock, LIMITS, startThread);
  return {
    async count(texts) {
      const result = await thread.run(HOLDER, () => pack(texts));
      return result.kind === "answer" ? result.answer.counts : null;
    },
    close: () => thread.close(),
  };
}

/** Copies texts into memory that can be transferred; the body itself is still needed here. */
function pack(texts: readonly Uint8Array[]): CountingJob {
  const lengths = texts.map(({ length }) => length);
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const text of texts) {
    bytes.set(text, at);
    at += text.length;
  }
  return { bytes, lengths };
}
