import { GatewayError } from "../../base/errors.ts";
import type { Caller } from "../../core/accounts/records.ts";
import type { GenerationResult } from "../../core/generation/call.ts";
import { generate } from "../../core/generation/generate.ts";
import { limitHeaders } from "../../core/limits/limit-headers.ts";
import { refuseAnonymous } from "../../core/limits/refuse-anonymous.ts";
import type { UsageRecord } from "../../core/usage/records.ts";
import { type ChatRequest, decodeChatRequest } from "../../wire/openai-chat/decode-request.ts";
import type { HttpDeps, RequestContext } from "../context.ts";
import { identifyCaller } from "../middleware/identify-caller.ts";
import { readRequestBody } from "../middleware/read-body.ts";
import { renderError } from "../render-error.ts";
import { writeRequestLog } from "../request-log.ts";

/** `POST chat/completions` (specification 4.1). */
export async function chatCompletions(request: Request, context: RequestContext): Promise<Response> {
  const { deps } = context;
  const identified = identifyCaller(request, context);
  const caller = identified instanceof Promise ? await identified : identified;
  try {
    refuseOverLimit(caller, deps);
    const body = await readRequestBody(request, context);
    const chat = withModelAliases(decodeChatRequest(body), deps);
    context.waitWithoutLimit();
    const result = await generate(deps.generation, {
      requestId: context.requestId,
      caller,
      request: chat,
      clientSignal: request.signal,
      onSettled: (record, failure) => {
        context.bodyShare?.giveBack();
        context.waitWithLimit();
        if (failure?.internal) context.logFields["detail"] = failure.internal;
        writeRequestLog(context, record.status ?? 0, describeForLog(record));
      },
    });
    context.endsItself = true;
    return render(result, context);
  } catch (error) {
    context.waitWithLimit();
    throw withLimit(error, caller, deps);
  }
}

/** Who has used the anonymous limit up is refused before the body is read. It is counted where the request is let in. */
function refuseOverLimit(caller: Caller, { generation, clock }: HttpDeps): void {
  if (caller.kind !== "anonymous") return;
  const verdict = generation.anonymousLimit.peek(caller.addressHash, clock.now());
  if (!verdict.allowed) refuseAnonymous(verdict);
}

function render(result: GenerationResult, context: RequestContext): Response {
  const headers = headersOf(result, context);
  switch (result.answer.kind) {
    case "failure":
      return renderError(result.answer.failure, headers);
    case "gone":
      return new Response(null, { status: 499 });
    case "json":
      headers["content-type"] = "application/json";
      return new Response(result.answer.body, { headers });
    case "stream":
      return new Response(result.answer.stream, { headers: Object.assign(headers, STREAM_HEADERS) });
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
  if (result.model !== null) headers["x-gateway-model"] = result.model;
  if (result.provider !== null) headers["x-gateway-provider"] = result.provider;
  return result.limit === null ? headers : Object.assign(headers, limitHeaders(result.limit));
}

/** Every inference answer says how its limit stands, also one that was refused before it was counted. */
function withLimit(error: unknown, caller: Caller, deps: HttpDeps): unknown {
  if (!(error instanceof GatewayError) || caller.kind !== "anonymous" || error.failure.headers) return error;
  const verdict = deps.generation.anonymousLimit.peek(caller.addressHash, deps.clock.now());
  return new GatewayError({ ...error.failure, headers: limitHeaders(verdict) });
}

/** Clients of other gateways put that gateway's name before an id. */
function withModelAliases(request: ChatRequest, { modelPrefixAliases }: HttpDeps): ChatRequest {
  const rename = (id: string): string => {
    for (const prefix in modelPrefixAliases) {
      if (id.startsWith(prefix)) return modelPrefixAliases[prefix] + id.slice(prefix.length);
    }
    return id;
  };
  const model = rename(request.model);
  const hasAlias = model !== request.model || request.fallbackModels.some((id) => rename(id) !== id);
  return hasAlias ? { ...request, model, fallbackModels: request.fallbackModels.map(rename) } : request;
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
