import { type Failure, fail, GatewayError } from "../../base/errors.ts";
import type { Principal } from "../../core/accounts/records.ts";
import type { GenerationResult } from "../../core/generation/call.ts";
import { generate } from "../../core/generation/generate.ts";
import { limitHeaders } from "../../core/limits/limit-headers.ts";
import type { RateLimitStatus } from "../../core/limits/rate-limiter.ts";
import { rejectAnonymous } from "../../core/limits/reject-anonymous.ts";
import { formatPlan } from "../../core/routing/plan-entries.ts";
import type { UsageRecord } from "../../core/usage/records.ts";
import type { InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import { bodyOf } from "../context/body-of.ts";
import type { ErrorRenderer, Handler, HttpDeps, RequestContext } from "../context/context.ts";
import { writeRequestLog } from "../context/request-log.ts";
import { identifyPrincipal } from "../middleware/identify-principal.ts";
import { type BodyHolder, readRequestBody, rejectForMemory } from "../middleware/read-body.ts";

/** A client API: how its requests are read and its errors look. */
export interface ClientApiOptions {
  /** @throws GatewayError for what is wrong with the request. */
  open(body: Buffer, rename: (id: string) => string, headers: Headers): InferenceRequest;
  readonly renderError: ErrorRenderer;
  /** A further name that the API's clients know the request's id by. */
  readonly requestIdHeader?: string;
  /** Nobody may call it without a key, not even for a free model. */
  readonly needsKey?: true;
}

/** The handler of a client API: who calls, what they ask, the generation, its answer. */
export function inferenceHandler({
  open,
  renderError,
  needsKey,
  requestIdHeader,
}: ClientApiOptions): Handler {
  return async (request, context) => {
    context.renderError = renderError;
    const { deps } = context;
    const identified = identifyPrincipal(request, context);
    const principal = identified instanceof Promise ? await identified : identified;
    try {
      if (needsKey && principal.kind === "anonymous") fail("authentication", KEY_WANTED);
      if (principal.kind === "anonymous") await rejectOverLimit(principal, deps);
      const body = await readRequestBody(request, context, bodyHolderOf(principal));
      const isLarge = body.length > LARGE_BYTES;
      if (isLarge) await deps.ownTurn();
      const asked = open(body, renameModels(deps), request.headers);
      if (isLarge) await deps.ownTurn();
      holdBeside(context, principal, asked.heldBytes);
      context.waitWithoutLimit();
      const result = await generate(deps.generation, {
        requestId: context.requestId,
        principal: principal,
        request: asked,
        readHeader: (name) => request.headers.get(name),
        readClientSignal: () => request.signal,
        takeMemory: (bytes) => context.bodyShare?.takeBeside(bytes) ?? true,
        onSettled: (record, failure) => settled(context, record, failure),
      });
      context.endsItself = true;
      const response = render(result, context, asked.notice);
      if (requestIdHeader !== undefined) response.headers.set(requestIdHeader, context.requestId);
      return response;
    } catch (error) {
      context.waitWithLimit();
      throw await withLimit(error, principal, deps);
    }
  };
}

/** Larger bodies may take milliseconds to be scanned, and again to be measured: each time in a turn of their own. */
const LARGE_BYTES = 256 * 1024;

const KEY_WANTED = 'This endpoint needs an API key. Send it as "Authorization: Bearer gw_…".';

function settled(context: RequestContext, record: UsageRecord, failure: Failure | null): void {
  context.bodyShare?.giveBack();
  context.waitWithLimit();
  if (failure?.internal) context.logFields["detail"] = failure.internal;
  writeRequestLog(context, record.status ?? 0, describeForLog(record));
}

/**
 * Counts what a request holds beside its body.
 * @throws GatewayError `unavailable`, `rate_limit_exceeded`.
 */
export function holdBeside({ bodyShare }: RequestContext, principal: Principal, bytes: number): void {
  if (bodyShare === null || bodyShare.takeBeside(bytes)) return;
  rejectForMemory(bodyShare, bodyHolderOf(principal).source, bytes);
}

/** With whose other bodies a caller's are counted. */
export function bodyHolderOf(principal: Principal): BodyHolder {
  return principal.kind === "key"
    ? { source: "key", id: principal.key.id }
    : { source: "anonymous", id: principal.addressHash };
}

/** Rejects an anonymous caller over the limit before the body is read. The request is counted when it is admitted. */
export async function rejectOverLimit(principal: Principal, deps: HttpDeps): Promise<void> {
  if (principal.kind !== "anonymous") return;
  const requests = (await peekLimits(principal, deps))?.requests ?? null;
  if (requests !== null && !requests.allowed) rejectAnonymous(requests, requests);
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
      headers["content-type"] = "application/json";
      return new Response(bodyOf(result.answer.body, unread), { headers });
    case "stream": {
      const { stream } = result.answer;
      const body = stream instanceof ReadableStream ? stream : bodyOf(stream, unread);
      return new Response(body, { headers: Object.assign(headers, STREAM_HEADERS) });
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
  return result.limit === null ? headers : Object.assign(headers, limitHeaders(result.limit));
}

/** Every inference answer says how its limit stands, also one that was refused before it was counted. */
export async function withLimit(error: unknown, principal: Principal, deps: HttpDeps): Promise<unknown> {
  if (!(error instanceof GatewayError) || error.failure.headers) return error;
  const limitStatus = await peekLimits(principal, deps);
  return limitStatus === null
    ? error
    : new GatewayError({ ...error.failure, headers: limitHeaders(limitStatus) });
}

async function peekLimits(
  principal: Principal,
  { generation, clock }: HttpDeps,
): Promise<RateLimitStatus | null> {
  const scopes = generation.listLimits(principal, null);
  return scopes.length === 0 ? null : generation.rateLimiter.peek(scopes, clock.now());
}

/** Clients of other gateways put that gateway's name before an id. */
export function renameModels({ modelPrefixAliases }: HttpDeps): (id: string) => string {
  return (id) => {
    for (const prefix in modelPrefixAliases) {
      if (id.startsWith(prefix)) return modelPrefixAliases[prefix] + id.slice(prefix.length);
    }
    return id;
  };
}

function describeForLog(record: UsageRecord): Record<string, unknown> {
  return {
    generation_id: record.id,
    requested_model: record.requestedModel,
    model: record.model,
    provider: record.provider,
    streamed: record.streamed,
    outcome: record.outcome,
    error: record.error,
    attempts: record.attempts.length,
    prompt_tokens: record.promptTokens,
    completion_tokens: record.completionTokens,
    estimated: record.estimated,
    cost_nanodollars: record.costNanodollars,
    first_token_ms: record.firstTokenAt === null ? null : record.firstTokenAt - record.createdAt,
  };
}
