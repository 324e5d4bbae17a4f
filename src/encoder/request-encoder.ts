import type { Clock, Timer } from "../base/clock.ts";
import { type Failure, GatewayError } from "../base/errors.ts";
import { createTurns } from "../base/turns.ts";
import type { EncodeOrder, RequestEncoder } from "../core/generation/request-encoder.ts";
import type { EncodedJob } from "../wire/client-apis/inference-request.ts";
import {
  type EncodingAnswer,
  type EncodingThread,
  startEncodingThread,
  type ThreadEvents,
} from "./encoding-thread.ts";

/** How long a request may take, queueing included. Milliseconds. */
const WAIT_MS = 60_000;
/** Silence after which the thread is replaced. Milliseconds. */
const STUCK_MS = 30_000;
/** The most waiting requests. The memory of their bodies is counted elsewhere. */
const MAX_WAITING = 1_000;

interface Job {
  readonly order: EncodeOrder;
  readonly settle: (answer: EncodingAnswer) => void;
  readonly patience: Timer;
  isSettled: boolean;
}

/** Creates an encoder with its own thread, which starts with the first large request. */
export function createRequestEncoder(
  clock: Clock,
  identitySecret: string,
  startThread: (identitySecret: string, events: ThreadEvents) => EncodingThread = startEncodingThread,
): RequestEncoder {
  const waiting = createTurns<Job>();
  let running: { readonly job: Job; readonly watchdog: Timer } | null = null;
  let thread: EncodingThread | null = null;
  let isClosed = false;

  function finish(job: Job, answer: EncodingAnswer): void {
    if (job.isSettled) return;
    job.isSettled = true;
    job.patience.cancel();
    job.settle(answer);
  }

  function takeNext(): void {
    while (running === null) {
      const job = waiting.next();
      if (job === null) return;
      if (job.isSettled) continue;
      if (job.order.isWanted()) run(job);
      else finish(job, OUT_OF_ORDER);
    }
  }

  function run(job: Job): void {
    thread ??= start();
    running = { job, watchdog: clock.after(STUCK_MS, breakOff) };
    thread.send(job.order.describe(), job.order.scope);
  }

  function start(): EncodingThread {
    const started: EncodingThread = startThread(identitySecret, {
      onAnswer: (answer) => thread === started && endRunning(answer),
      onBroken: () => thread === started && breakOff(),
    });
    return started;
  }

  function endRunning(answer: EncodingAnswer): void {
    const ended = running;
    running = null;
    ended?.watchdog.cancel();
    if (ended !== null) finish(ended.job, answer);
    takeNext();
  }

  function breakOff(): void {
    const broken = thread;
    thread = null;
    broken?.stop();
    endRunning(OUT_OF_ORDER);
  }

  return {
    async encode(order) {
      if (isClosed || waiting.count() >= MAX_WAITING) throw new GatewayError(BUSY);
      const answer = await new Promise<EncodingAnswer>((settle) => {
        const job: Job = {
          order,
          settle,
          patience: clock.after(WAIT_MS, () => finish(job, { kind: "failed", failure: BUSY })),
          isSettled: false,
        };
        waiting.add(order.scope, job);
        takeNext();
      });
      return read(answer);
    },
    close() {
      isClosed = true;
      for (let job = waiting.next(); job !== null; job = waiting.next()) finish(job, OUT_OF_ORDER);
      if (thread !== null) breakOff();
    },
  };
}

const BUSY: Failure = {
  code: "unavailable",
  message: "The gateway has too many large requests to translate at the moment. Repeat the request later.",
  retryAfterS: 5,
};

const OUT_OF_ORDER: EncodingAnswer = {
  kind: "failed",
  failure: {
    code: "unavailable",
    message: "The gateway could not translate the request. Repeat it.",
    retryAfterS: 1,
    internal: "the thread that encodes requests broke, was too slow, or was stopped",
  },
};

function read(answer: EncodingAnswer): EncodedJob {
  if (answer.kind === "failed") throw new GatewayError(answer.failure);
  const { made } = answer;
  // A Buffer arrives from another thread as a plain Uint8Array.
  const { buffer, byteOffset, byteLength } = made.encoded.body;
  return { ...made, encoded: { ...made.encoded, body: Buffer.from(buffer, byteOffset, byteLength) } };
}
