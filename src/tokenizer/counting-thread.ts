import type { JobThread, ThreadEvents } from "../base/threads/thread-client.ts";
import { createWorkerThread } from "../base/threads/worker-thread.ts";

/** A message to the thread: concatenated texts and their lengths. */
export interface CountingJob {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

/** The answer of the thread: the tokens of each text. */
export interface CountingAnswer {
  readonly counts: readonly number[];
}

/** Starts a thread with the tokenizer in it. A job's bytes are transferred to it. */
export function startCountingThread(events: ThreadEvents<CountingAnswer>): JobThread<CountingJob> {
  const worker = new Worker(new URL("./count-worker.ts", import.meta.url).href);
  return createWorkerThread(worker, (job) => [job.bytes.buffer], events);
}
