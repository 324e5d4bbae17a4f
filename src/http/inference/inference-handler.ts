import { failureOf, GatewayError, statusOf } from "../../base/failures/errors.ts";
import { toHeaderText } from "../../base/text/header-text.ts";
import { endOfTurn } from "../../base/time/turn-end.ts";
import { IDEMPOTENCY_HEADER } from "../../core/extensions/answers/repeatable-answers.ts";
import type { GenerationResult } from "../../core/generation/call/call.ts";
import { generate } from "../../core/generation/generate.ts";
import { limitHeaders } from "../../core/limits/limit-headers.ts";
import type { OpenedState } from "../../core/response-objects/response-objects.ts";
import { formatPlan } from "../../core/routing/plan/plan-entries.ts";
import type { ApiOperation, ClientApiDeclaration, SentTarget } from "../../wire/client-apis/client-api.ts";
import type { ClientApi, InferenceRequest } from "../../wire/client-apis/request/inference-request.ts";
import { bodyOf } from "../context/body-of.ts";
import type { AskedRequest, RequestContext } from "../context/context.ts";
import { rendererOf } from "../errors/client-api-errors.ts";
import { admitCaller, peekLimits } from "../middleware/admit.ts";
import { readRequestBody, takeMemory } from "../middleware/read-body.ts";
import { describeAsked } from "./asked-request.ts";
import { BodyMemory } from "./body-memory.ts";
import { InferenceCall } from "./inference-call.ts";
import { NEVER_LEAVES, outliveClient } from "./outlive-client.ts";
import { type ParsedRequest, parseJoined, parseWithPreset, type RequestParser } from "./parse-with-preset.ts";
import { answerWarmUp, noteState, readTurn } from "./read-turn.ts";
import { abandonState, keepAnswer, openState } from "./response-state.ts";
import { startJob } from "./start-job.ts";

/** Returns the handler of an operation of a client API: admits and parses the request, generates, and renders the response. */
export function inferenceHandler(api: ClientApiDeclaration, { readBody, presentBody }: ApiOperation) {
  const renderError = rendererOf(api);
  const access = { kind: api.access } as const;
  return async (request: Request, context: RequestContext, target: SentTarget = context) => {
    context.renderError = renderError;
    context.takesForm = api.takesForm ?? false;
    let body: Buffer | null = null;
    let parsed: ParsedRequest<InferenceRequest> | null = null;
    let state: OpenedState | null = null;
    try {
      if (declaredBytes(request) <= TOGETHER_BYTES) await endOfTurn();
      beginTrace(request, context);
      const principal = await admitCaller(request, context, access);
      const waitingFrom = context.stopwatch.beginWait();
      const sent = await readRequestBody(request, context, principal);
      context.stopwatch.endWait(waitingFrom);
      const { turn } = context;
      body =
        turn !== null
          ? await readTurn(turn, context, { sent, principal })
          : readBody === undefined
            ? sent
            : readBody(sent, target);
      const parser = new ClientParser(api, context.deps.clients.renameModel, request.headers);
      const large = body.length > LARGE_BYTES;
      if (large) await context.deps.bodies.ownTurn();
      parsed = await parseWithPreset(context.deps.generation, parser, { body, principal });
      if (large) await context.deps.bodies.ownTurn();
      const idempotencyName = request.headers.get(IDEMPOTENCY_HEADER);
      state = await openState(context, { principal, request: parsed.request, body, idempotencyName });
      if (state !== null) {
        ({ body } = state);
        if (turn !== null) noteState(turn, state);
        parsed = parseJoined(parser, parsed, body);
      }
      takeMemory(context, principal, parsed.request.memory.heldBytes + parsed.bodyBytes);
      const isRepeatable = idempotencyName !== null && principal.kind !== "anonymous";
      const memory = new BodyMemory(body, parsed.request.memory.heldBytes, context.bodyShare);
      const keeps = state?.response ?? null;
      const job = keeps?.isBackground === true ? context.deps.features.responses.jobs.prepare(keeps) : null;
      const signal = job?.signal ?? (isRepeatable ? NEVER_LEAVES : null);
      const longestMs = job?.longestMs ?? null;
      const sender = { principal, parser, signal, keeps, longestMs };
      const call = new InferenceCall(request, context, memory, parsed, sender);
      if (turn?.frame?.isWarmUp === true) return await answerWarmUp(turn, context, call);
      const generating = generate(context.deps.generation, call);
      const started =
        job === null || state === null
          ? null
          : await startJob(context, { job, state, generating, principal });
      if (started !== null) return started;
      const generated = await generating;
      const kept = keeps === null ? generated : await keepAnswer(generated, keeps);
      const result = presentBody === undefined ? kept : present(kept, presentBody);
      const given = isRepeatable ? outlive(result) : result;
      return respond(given, context, api, parsed.request.notice);
    } catch (error) {
      await abandonState(state);
      context.asked = describeAsked(api.name, body, parsed?.request ?? null);
      throw await endRejected(context, context.asked, error);
    }
  };
}

/** Returns a result whose whole answer has the form of its operation. */
function present(result: GenerationResult, presentBody: (answer: Buffer) => Buffer): GenerationResult {
  const { answer } = result;
  if (answer.kind !== "json") return result;
  return { ...result, answer: { ...answer, body: presentBody(Buffer.from(answer.body)) } };
}

/** Parses the bodies of one request, and reads its headers. */
class ClientParser implements RequestParser<InferenceRequest> {
  readonly api: ClientApi;

  constructor(
    private readonly declared: ClientApiDeclaration,
    private readonly rename: (id: string) => string,
    private readonly headers: Headers,
  ) {
    this.api = declared.name;
  }

  parse(body: Buffer): InferenceRequest {
    return this.declared.parse(body, this.rename, this.headers);
  }
}

/** Renders the result of a generation, which writes its log line itself. A stream that cannot be sent ends its generation. */
function respond(
  result: GenerationResult,
  context: RequestContext,
  { name, requestIdHeader }: ClientApiDeclaration,
  notice: string | null,
): Response {
  context.endsItself = true;
  let response: Response;
  try {
    response = render(result, context, { notice, requestIdHeader });
  } catch (error) {
    if (result.answer.kind === "stream") abandon(result.answer.stream);
    throw error;
  }
  if (result.attempts > 0)
    context.deps.observers.requestObserver?.onAnswered(name, context.stopwatch.workedMs());
  return response;
}

function abandon(stream: ReadableStream<Uint8Array> | Buffer): void {
  if (stream instanceof ReadableStream) stream.cancel().catch(() => {});
}

/** Begins the trace of a request, or continues its caller's. */
function beginTrace({ headers }: Request, context: RequestContext): void {
  const { deps, stopwatch, startedAt, logFields } = context;
  if (deps.observers.tracer === null) return;
  const traceparent = headers.get("traceparent");
  const names = { traceparent, tracestate: traceparent === null ? null : headers.get("tracestate") };
  context.trace = deps.observers.tracer.begin(names, { arrivedAt: startedAt, stopwatch });
  logFields["trace_id"] = context.trace.traceId;
}

/** Reports a request that did not become a generation. Returns the error for the response. */
async function endRejected(
  context: RequestContext,
  observed: AskedRequest,
  error: unknown,
): Promise<unknown> {
  const { deps, trace, route, requestId, stopwatch } = context;
  const failure = failureOf(error);
  context.enableIdleTimeout();
  deps.observers.requestObserver?.onRejected(observed, failure, stopwatch.elapsedMs());
  trace?.end({ api: observed.api, requestId, route, status: statusOf(failure), failure, record: null });
  return withLimitHeaders(error, context);
}

/** Larger bodies are read one by one: a body that has been read and parsed counts twice in the memory of bodies until it is sent. Bytes. */
const TOGETHER_BYTES = 16 * 1024;

/** Returns the length of the body that a request declares. Bytes; NaN if it declares none. */
function declaredBytes({ headers }: Request): number {
  return Number(headers.get("content-length") ?? Number.NaN);
}

/** Larger bodies take milliseconds to parse, and again to measure. Each runs in its own turn of the event loop. Bytes. */
const LARGE_BYTES = 256 * 1024;

/** Lets a streamed answer continue if its client leaves. */
function outlive(result: GenerationResult): GenerationResult {
  const { answer } = result;
  if (answer.kind !== "stream" || !(answer.stream instanceof ReadableStream)) return result;
  return { ...result, answer: { ...answer, stream: outliveClient(answer.stream) } };
}

/** What a client API adds to the headers of its responses. */
interface ApiHeaders {
  /** A warning about the request; null if there is none. */
  readonly notice: string | null;
  /** A further header with the id of the request; absent if the API has none. */
  readonly requestIdHeader?: string | undefined;
}

function render(result: GenerationResult, context: RequestContext, added: ApiHeaders): Response {
  const { answer } = result;
  const {
    settings: { unread },
  } = context.deps.generation;
  switch (answer.kind) {
    case "failure":
      return context.renderError(answer.failure, listHeaders(result, context, added), context.requestId);
    case "gone":
      return new Response(null, { status: 499, headers: { "x-request-id": context.requestId } });
    case "json": {
      const headers = listHeaders(result, context, added);
      headers["content-type"] = toHeaderText(answer.mediaType ?? "application/json");
      return new Response(bodyOf(answer.body, unread), { headers });
    }
    case "stream": {
      const { stream, mediaType } = answer;
      const headers = listHeaders(result, context, added);
      headers["content-type"] = toHeaderText(mediaType ?? "text/event-stream; charset=utf-8");
      if (mediaType === undefined) {
        headers["cache-control"] = "no-cache";
        headers["x-accel-buffering"] = "no";
      }
      const body = stream instanceof ReadableStream ? stream : bodyOf(stream, unread);
      return new Response(body, { headers });
    }
  }
}

/** Returns the headers that every inference response has. Texts may be of the configuration, a caller or a provider. */
function listHeaders(
  { plan, model, provider, limit, generationId, attempts, headers: further }: GenerationResult,
  { requestId }: RequestContext,
  { notice, requestIdHeader }: ApiHeaders,
): Record<string, string> {
  const headers: Record<string, string> = {
    "x-request-id": requestId,
    "x-gateway-generation-id": generationId,
    "x-gateway-attempts": String(attempts),
  };
  if (requestIdHeader !== undefined) headers[requestIdHeader] = requestId;
  if (plan.length > 0) headers["x-gateway-route"] = toHeaderText(formatPlan(plan));
  if (model !== null) headers["x-gateway-model"] = toHeaderText(model);
  if (provider !== null) headers["x-gateway-provider"] = toHeaderText(provider);
  for (const name in further) headers[name] = toHeaderText(further[name] as string);
  if (limit !== null) limitHeaders(limit, headers);
  if (notice !== null) headers["x-gateway-warning"] = toHeaderText(notice);
  return headers;
}

/** Adds the rate limit headers to an error, which every inference response has once its principal is known. */
export async function withLimitHeaders(
  error: unknown,
  { inferencePrincipal, deps }: RequestContext,
): Promise<unknown> {
  if (!(error instanceof GatewayError) || error.failure.headers || inferencePrincipal === null) return error;
  const limitStatus = await peekLimits(inferencePrincipal, deps);
  return limitStatus === null
    ? error
    : new GatewayError({ ...error.failure, headers: limitHeaders(limitStatus) });
}
