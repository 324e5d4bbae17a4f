import type { Failure } from "../base/failures/errors.ts";
import type { JobThread, ThreadEvents } from "../base/threads/thread-client.ts";
import { createWorkerThread } from "../base/threads/worker-thread.ts";
import type { EncodedJob, EncodeJob } from "../wire/client-apis/request/inference-request.ts";

/** A request to encode. `scope` is the caller's; users are hashed within it. */
export interface EncodingJob {
  readonly job: EncodeJob;
  readonly scope: string;
}

/** A message to the thread: first the secret for hashing identities, then one job after the other. */
export type EncodingMessage = { readonly identitySecret: string } | EncodingJob;

/** The answer of the thread. */
export type EncodingAnswer =
  | { readonly kind: "encoded"; readonly made: EncodedJob }
  | { readonly kind: "failed"; readonly failure: Failure };

/** Starts a thread that encodes requests. A job's body is transferred to it. */
export function startEncodingThread(
  identitySecret: string,
  events: ThreadEvents<EncodingAnswer>,
): JobThread<EncodingJob> {
  const worker = new Worker(new URL("./encode-worker.ts", import.meta.url).href);
  const thread = createWorkerThread<EncodingJob, EncodingAnswer>(
    worker,
    ({ job }) => [job.body.buffer],
    events,
  );
  const secret: EncodingMessage = { identitySecret };
  worker.postMessage(secret);
  return thread;
}
