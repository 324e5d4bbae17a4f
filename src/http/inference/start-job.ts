import type { Fields } from "../../base/json/fields.ts";
import { toDollars } from "../../base/numbers/money.ts";
import type { InferencePrincipal } from "../../core/accounts/records/principal.ts";
import type { GenerationResult } from "../../core/generation/call/call.ts";
import type { ResponseJob } from "../../core/response-objects/jobs/response-job.ts";
import { presentResponse } from "../../core/response-objects/present-response.ts";
import type { StoredObject } from "../../core/response-objects/records/response-object.ts";
import type { OpenedState } from "../../core/response-objects/response-objects.ts";
import { STREAM_END } from "../../wire/openai-responses/stream-events.ts";
import type { RequestContext } from "../context/context.ts";
import { withOwnMemory } from "../middleware/read-body.ts";

/** A background response, and its generation, which has begun. */
interface BeginningJob {
  readonly job: ResponseJob;
  readonly state: OpenedState;
  readonly generating: Promise<GenerationResult>;
  readonly principal: InferencePrincipal;
}

/**
 * Lets a background response run, and responds with it, or with the stream of its events, once it is accepted: it is admitted, its money is
 * held and its record stored. A repeated request gets the response of the first one, as it is at that moment. Returns null if the generation
 * has failed before. Rejects as `generate` if it is not accepted.
 */
export async function startJob(context: RequestContext, beginning: BeginningJob): Promise<Response | null> {
  const { job, state, generating } = beginning;
  const { response } = state;
  const { jobs } = context.deps.features.responses;
  const ended = await Promise.race([response.whenAccepted().then(() => null), generating]);
  if (ended?.answer.kind === "failure") return null;
  if (ended !== null && ended.replayOf !== undefined && !response.hasBegun)
    return answerAgain(context, beginning, { ...ended, replayOf: ended.replayOf });
  // An answer that needs no provider, such as one that is repeated, is there before an attempt.
  const begun = response.requireBegun();
  const headers = { "x-request-id": context.requestId, "x-gateway-generation-id": begun.id };
  // Read before the job runs, which may end before its beginning is sent.
  const shown = state.isStreamed ? null : presentResponse(begun, response.describeContent());
  jobs.start(job, begun, response.requireSeal(), generating);
  context.endsItself = true;
  await response.whenRecorded();
  return shown === null
    ? streamEvents(context, begun, { after: -1, headers })
    : Response.json(shown, { headers });
}

/** Answers a repeated request with the response of the first one. Rejects with a GatewayError `not_found` if that was just deleted. */
async function answerAgain(
  context: RequestContext,
  { state, principal }: BeginningJob,
  { generationId, headers: added, replayOf: id }: GenerationResult & { readonly replayOf: string },
): Promise<Response> {
  const { responses } = context.deps.features;
  const { owner: caller } = state.response;
  const { head, content } = await withOwnMemory(context, principal, (memory) =>
    responses.find({ caller, id, memory }),
  );
  context.endsItself = true;
  const headers = { "x-request-id": context.requestId, "x-gateway-generation-id": generationId, ...added };
  if (state.isStreamed) return streamEvents(context, head, { after: -1, headers });
  return Response.json(await withCost(context, presentResponse(head, content)), { headers });
}

/** Adds the cost of a response that has no usage of its own, because it failed or was cancelled. */
export async function withCost({ deps }: RequestContext, response: Fields): Promise<Fields> {
  if (response["usage"] !== null || response["status"] === "in_progress") return response;
  const record = await deps.generation.recorder.find(String(response["id"]));
  if (record === null || record.outcome === "open") return response;
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens, costNanodollars } = record;
  const usage = {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + completionTokens,
    cost: toDollars(costNanodollars),
    estimated: record.estimated,
  };
  return { ...response, usage };
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
