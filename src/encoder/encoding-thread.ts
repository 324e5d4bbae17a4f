import type { Failure } from "../base/errors.ts";
import type { EncodedJob, EncodeJob } from "../wire/client-apis/inference-request.ts";

/** A message to the thread: first the secret for hashing identities, then one job after the other. */
export type EncodingMessage =
  | { readonly identitySecret: string }
  | { readonly job: EncodeJob; readonly scope: string };

/** The answer of the thread. */
export type EncodingAnswer =
  | { readonly kind: "encoded"; readonly made: EncodedJob }
  | { readonly kind: "failed"; readonly failure: Failure };

/** A thread that encodes one request after the other. */
export interface EncodingThread {
  /** Transfers the job's body: it cannot be used here afterwards. */
  send(job: EncodeJob, scope: string): void;
  stop(): void;
}

/** Callbacks of a thread. */
export interface ThreadEvents {
  readonly onAnswer: (answer: EncodingAnswer) => void;
  /** Called when the thread has failed. */
  readonly onBroken: () => void;
}

/** Starts a thread that encodes requests. It does not keep the process alive. */
export function startEncodingThread(
  identitySecret: string,
  { onAnswer, onBroken }: ThreadEvents,
): EncodingThread {
  const worker = new Worker(new URL("./encode-worker.ts", import.meta.url).href);
  const post = (message: EncodingMessage, transfer: ArrayBuffer[] = []) =>
    worker.postMessage(message, transfer);
  worker.unref();
  worker.onmessage = ({ data }: MessageEvent<EncodingAnswer>) => onAnswer(data);
  worker.onerror = onBroken;
  worker.addEventListener("close", onBroken);
  post({ identitySecret });
  return {
    send: (job, scope) => post({ job, scope }, [job.body.buffer]),
    stop: () => worker.terminate(),
  };
}
