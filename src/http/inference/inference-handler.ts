import { type Failure, failureOf, GatewayError, statusOf } from "../../base/errors.ts";
import type { InferencePrincipal } from "../../core/accounts/principal.ts";
import { IDEMPOTENCY_HEADER } from "../../core/extensions/answers/repeatable-answers.ts";
import type { GenerationResult } from "../../core/generation/call.ts";
import { generate } from "../../core/generation/generate.ts";
import { limitHeaders } from "../../core/limits/limit-headers.ts";
import { formatPlan } from "../../core/routing/plan-entries.ts";
import type { ClientApi, InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import { bodyOf } from "../context/body-of.ts";
import type { ErrorRenderer, Handler, HttpDeps, RequestContext } from "../context/context.ts";
import { admit, holderOf, peekLimits } from "../middleware/admit.ts";
import { rejectForMemory } from "../middleware/read-body.ts";
import { BodyMemory } from "./body-memory.ts";
import { NEVER_LEAVES, outliveClient } from "./outlive-client.ts";
import { parseWithPreset } from "./parse-with-preset.ts";

/** How the requests of a client API are parsed and its errors are rendered. */
export interface ClientApiOptions {
  readonly api: ClientApi;
  /** @throws GatewayError `invalid_request` and others for an invalid request. */
  parse(body: Buffer, rename: (id: string) => string, headers: Headers): InferenceRequest;
  readonly renderError: ErrorRenderer;
  /** An additional response header with the id of the request. */
  readonly requestIdHeader?: string;
  /** Its body is a form (`multipart/form-data`) instead of JSON. */
  readonly takesForm?: true;
  /** Who may call it. */
  readonly access: { readonly kind: "open_inference" | "inference" };
}

/** Returns the handler of a client API: admits and parses the request, generates, and renders the response. */
export function inferenceHandler(options: ClientApiOptions): Handler {
  return async (request, context) => {
    context.renderError = options.renderError;
    if (options.takesForm) context.takesForm = true;
    beginTrace(request, context);
    const observed: Observed = { api: options.api, model: null };
    try {
      return await answer(request, context, { options, observed });
    } catch (error) {
      context.enableIdleTimeout();
      observeRejection(context, observed, failureOf(error));
      throw await withLimitHeaders(error, context);
    }
  };
}

/** What a request asks for, as far as it was parsed. */
interface Observed {
  readonly api: ClientApi;
  model: string | null;
}

async function answer(
  request: Request,
  context: RequestContext,
  { options, observed }: { readonly options: ClientApiOptions; readonly observed: Observed },
): Promise<Response> {
  const { deps } = context;
  const { principal, body, parsed, preset, parse } = await readRequest(request, context, options);
  observed.model = parsed.model;
  context.disableIdleTimeout();
  const memory = new BodyMemory(body, parsed.heldBytes, context.bodyShare);
  const isRepeatable = request.headers.has(IDEMPOTENCY_HEADER) && principal.kind !== "anonymous";
  const result = await generate(deps.generation, {
    requestId: context.requestId,
    principal,
    request: parsed,
    preset,
    parse,
    readHeader: (name) => request.headers.get(name),
    readClientSignal: () => (isRepeatable ? NEVER_LEAVES : request.signal),
    readBody: () => memory.readBody(),
    memory,
    takeMemory: (bytes) => context.bodyShare?.takeExtra(bytes) ?? true,
    onEnded() {
      context.bodyShare?.release();
      context.enableIdleTimeout();
    },
    route: context.route,
    receivedAt: context.startedAt,
    stopwatch: context.stopwatch,
    trace: context.trace,
    logFields: context.logFields,
  });
  context.endsItself = true;
  const response = render(isRepeatable ? outlive(result) : result, context, parsed.notice);
  if (options.requestIdHeader !== undefined) response.headers.set(options.requestIdHeader, context.requestId);
  if (result.attempts > 0) deps.requestObserver?.onAnswered(options.api, context.stopwatch.workedMs());
  return response;
}

/** Admits and parses a request, and counts the memory that it holds. */
async function readRequest(request: Request, context: RequestContext, options: ClientApiOptions) {
  const { deps } = context;
  const { principal, body } = await admit(request, context, options.access);
  const isLarge = body.length > LARGE_BYTES;
  if (isLarge) await deps.ownTurn();
  const parse = (bytes: Buffer) => options.parse(bytes, renameModels(deps), request.headers);
  const made = parseWithPreset(deps.generation, { api: options.api, body, principal, parse });
  const { request: parsed, preset, bodyBytes } = made instanceof Promise ? await made : made;
  if (isLarge) await deps.ownTurn();
  reserveExtraMemory(context, principal, parsed.heldBytes + bodyBytes);
  return { principal, body, parsed, preset, parse };
}

/** Begins the trace of a request, or continues its caller's. */
function beginTrace({ headers }: Request, context: RequestContext): void {
  const { deps, stopwatch, startedAt, logFields } = context;
  if (deps.tracer === null) return;
  const names = { traceparent: headers.get("traceparent"), tracestate: headers.get("tracestate") };
  context.trace = deps.tracer.begin(names, { arrivedAt: startedAt, stopwatch });
  logFields["trace_id"] = context.trace.traceId;
}

/** Reports a request that became no generation. */
function observeRejection(context: RequestContext, observed: Observed, failure: Failure): void {
  const { deps, trace, route, requestId, stopwatch } = context;
  deps.requestObserver?.onRejected(observed, failure, stopwatch.elapsedMs());
  trace?.end({ api: observed.api, requestId, route, status: statusOf(failure), failure, record: null });
}

/** Larger bodies take milliseconds to parse, and again to measure. Each runs in its own turn of the event loop. Bytes. */
const LARGE_BYTES = 256 * 1024;

/**
 * Counts memory that a request holds besides its body.
 * @throws GatewayError `unavailable`, `rate_limit_exceeded`.
 */
export function reserveExtraMemory(
  { bodyShare }: RequestContext,
  principal: InferencePrincipal,
  bytes: number,
): void {
  if (bodyShare === null || bodyShare.takeExtra(bytes)) return;
  rejectForMemory(bodyShare, holderOf(principal).source, bytes);
}

/** Lets a streamed answer go on if its client leaves. */
function outlive(result: GenerationResult): GenerationResult {
  const { answer } = result;
  if (answer.kind !== "stream" || !(answer.stream instanceof ReadableStream)) return result;
  return { ...result, answer: { ...answer, stream: outliveClient(answer.stream) } };
}

function render(result: GenerationResult, context: RequestContext, notice: string | null): Response {
  const headers = headersOf(result, context);
  if (notice !== null) headers["x-gateway-warning"] = notice;
  const { unread } = context.deps.generation;
  switch (result.answer.kind) {
    case "failure":
      return context.renderError(result.answer.failure, headers, context.requestId);
    case "gone":
      return new Response(null, { status: 499 });
    case "json":
      headers["content-type"] = result.answer.mediaType ?? "application/json";
      return new Response(bodyOf(result.answer.body, unread), { headers });
    case "stream": {
      const { stream, mediaType } = result.answer;
      const body = stream instanceof ReadableStream ? stream : bodyOf(stream, unread);
      const added = mediaType === undefined ? STREAM_HEADERS : { "content-type": mediaType };
      return new Response(body, { headers: Object.assign(headers, added) });
    }
  }
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

function headersOf(result: GenerationResult, context: RequestContext): Record<string, string> {
  const headers: Record<string, string> = {
    "x-request-id": context.requestId,
    "x-gateway-generation-id": result.generationId,
    "x-gateway-attempts": String(result.attempts),
  };
  if (result.plan.length > 0) headers["x-gateway-route"] = formatPlan(result.plan);
  if (result.model !== null) headers["x-gateway-model"] = result.model;
  if (result.provider !== null) headers["x-gateway-provider"] = result.provider;
  Object.assign(headers, result.headers);
  return result.limit === null ? headers : Object.assign(headers, limitHeaders(result.limit));
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

/** Returns the replacement of model id prefixes: clients of other gateways prefix ids with that gateway's name. */
export function renameModels({ modelPrefixAliases }: HttpDeps): (id: string) => string {
  return (id) => {
    for (const prefix in modelPrefixAliases) {
      if (id.startsWith(prefix)) return modelPrefixAliases[prefix] + id.slice(prefix.length);
    }
    return id;
  };
}
