import { type Failure, GatewayError } from "../base/failures/errors.ts";
import { joinIntoOne } from "../base/text/composed-bytes.ts";
import { ThreadClient, type ThreadFailure } from "../base/threads/thread-client.ts";
import type { Clock } from "../base/time/clock.ts";
import type { RequestEncoder } from "../core/generation/memory/request-encoder.ts";
import type { EncodedJob } from "../wire/client-apis/request/inference-request.ts";
import { type EncodingAnswer, type EncodingJob, startEncodingThread } from "./encoding-thread.ts";

/** The memory of waiting requests' bodies is counted elsewhere. */
const LIMITS = { waitMs: 60_000, stuckMs: 30_000, pauseMs: 0, maxWaiting: 1_000 };

/** Creates an encoder with its own thread, which starts with the first large request. */
export function createRequestEncoder(clock: Clock, identitySecret: string): RequestEncoder {
  const thread = new ThreadClient<EncodingJob, EncodingAnswer>(clock, LIMITS, (events) =>
    startEncodingThread(identitySecret, events),
  );
  return {
    async encode({ scope, isWanted, describe }) {
      const result = await thread.run(scope, () => (isWanted() ? { job: describe(), scope } : null));
      if (result.kind !== "answer") throw new GatewayError(FAILURES[result.kind]);
      return read(result.answer);
    },
    close: () => thread.close(),
  };
}

const FAILURES: Readonly<Record<ThreadFailure, Failure>> = {
  busy: {
    code: "unavailable",
    message: "The gateway has too many large requests to translate at the moment. Try again later.",
    retryAfterS: 5,
  },
  broken: {
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
  const { buffer, byteOffset, byteLength } = joinIntoOne(made.encoded.body);
  return { ...made, encoded: { ...made.encoded, body: Buffer.from(buffer, byteOffset, byteLength) } };
}
