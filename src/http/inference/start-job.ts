import type { GenerationResult } from "../../core/generation/call/call.ts";
import type { ResponseJob } from "../../core/response-objects/jobs/response-job.ts";
import { presentResponse } from "../../core/response-objects/present-response.ts";
import type { StoredObject } from "../../core/response-objects/records/response-object.ts";
import type { OpenedState } from "../../core/response-objects/response-objects.ts";
import { STREAM_END } from "../../wire/openai-responses/stream-events.ts";
import type { RequestContext } from "../context/context.ts";

/** A background response, and its generation, which has begun. */
interface BeginningJob {
  readonly job: ResponseJob;
  readonly state: OpenedState;
  readonly generating: Promise<GenerationResult>;
}

/**
 * Lets a background response run, and responds with it, or with the stream of its events, once it is accepted: it is admitted, its money is
 * held and its record stored. Returns null if its generation has failed before. Rejects as `generate` if it is not accepted.
 */
export async function startJob(context: RequestContext, beginning: BeginningJob): Promise<Response | null> {
  const { job, state, generating } = beginning;
  const { response } = state;
  const { jobs } = context.deps.features.responses;
  const ended = await Promise.race([response.whenAccepted().then(() => null), generating]);
  if (ended?.answer.kind === "failure") return null;
  // An answer that needs no provider, such as one that is repeated, is there before an attempt.
  const begun = response.requireBegun();
  jobs.start(job, begun, response.requireSeal(), generating);
  context.endsItself = true;
  const headers = { "x-request-id": context.requestId, "x-gateway-generation-id": begun.id };
  if (!state.isStreamed)
    return Response.json(presentResponse(begun, response.describeContent()), { headers });
  return streamEvents(context, begun, { after: -1, headers });
}

/** What of a response is streamed, and the headers of the stream. */
interface EventStream {
  /** The number of the last event that the client has. */
  readonly after: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the events of a background response as a stream, until its end. */
export function streamEvents(
  context: RequestContext,
  response: StoredObject,
  { after, headers }: EventStream,
): Response {
  let isLeft = false;
  const events = context.deps.features.responses.jobs.follow({ response, after, isLeft: () => isLeft });
  context.disableIdleTimeout();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await events.next();
      if (!done) return controller.enqueue(Buffer.from(value, "latin1"));
      context.enableIdleTimeout();
      controller.enqueue(Buffer.from(STREAM_END, "latin1"));
      controller.close();
    },
    cancel() {
      isLeft = true;
    },
  });
  return new Response(body, {
    headers: {
      ...headers,
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    },
  });
}
