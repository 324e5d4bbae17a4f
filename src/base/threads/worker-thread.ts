import type { JobThread, ThreadEvents } from "./thread-client.ts";

/**
 * Makes a thread of a worker. `transferOf` lists the memory that goes over to the worker with a job. The worker does not keep
 * the process alive.
 */
export function createWorkerThread<Job, Answer>(
  worker: Worker,
  transferOf: (job: Job) => ArrayBuffer[],
  { onAnswer, onBroken }: ThreadEvents<Answer>,
): JobThread<Job> {
  worker.unref();
  worker.onmessage = ({ data }: MessageEvent<Answer>) => onAnswer(data);
  worker.onerror = onBroken;
  worker.addEventListener("close", onBroken);
  return {
    send: (job) => worker.postMessage(job, transferOf(job)),
    stop: () => worker.terminate(),
  };
}
