import { outcomeOf, outcomeOfFailure, type RequestOutcome, resultOf } from "../../core/extensions/metrics.ts";
import type { EndedTrace, SpanIdentity, TracedAttempt } from "../../core/telemetry/request-trace.ts";
import type { UsageRecord } from "../../core/usage/records.ts";
import { type AttributeValue, encodeAttributes, encodeString, encodeTime } from "./json.ts";

const KIND = { server: 2, client: 3 } as const;
const ERROR = 2;

/** Returns how a traced request ended. */
export function outcomeOfTrace({ record, failure }: Pick<EndedTrace, "record" | "failure">): RequestOutcome {
  if (record !== null) return outcomeOf(record, failure);
  return failure === null ? "completed" : outcomeOfFailure(failure);
}

/** Encodes the spans of a request: a SERVER span, and below it a CLIENT span for each attempt. Never contents. */
export function encodeTrace(trace: EndedTrace, isGenAi: boolean): string {
  const { identity, attempts } = trace;
  let text = encodeSpan({
    ...trace,
    identity,
    kind: "server",
    name: `POST ${trace.route}`,
    attributes: describeRequest(trace),
    // As the HTTP conventions define it for servers: a request that is at fault itself is no error.
    error: outcomeOfTrace(trace) === "failed" ? (trace.failure?.code ?? "failed") : null,
  });
  for (const [at, attempt] of attempts.entries()) {
    const answered = at === attempts.length - 1 ? trace.record : null;
    text += `,${encodeAttempt(trace, attempt, { at, answered, isGenAi })}`;
  }
  return text;
}

function describeRequest({ api, requestId, route, status, failure, record, attempts }: EndedTrace) {
  const outcome = outcomeOfTrace({ record, failure });
  return {
    "http.request.method": "POST",
    "http.route": route,
    "http.response.status_code": status,
    "error.type": failure?.code ?? null,
    "gateway.api": api,
    "gateway.outcome": outcome,
    "gateway.request_id": requestId,
    "gateway.generation_id": record?.id ?? null,
    "gateway.model": record?.model ?? null,
    "gateway.provider": record?.provider ?? null,
    "gateway.attempts": attempts.length,
    "gateway.prompt_tokens": record?.promptTokens ?? null,
    "gateway.completion_tokens": record?.completionTokens ?? null,
    "gateway.cost_nanodollars": record?.costNanodollars ?? null,
  } satisfies Record<string, AttributeValue>;
}

interface AttemptPlace {
  readonly at: number;
  /** The record of the generation, if this was its last attempt. */
  readonly answered: UsageRecord | null;
  readonly isGenAi: boolean;
}

function encodeAttempt(
  { api, identity, endedAt }: EndedTrace,
  { spanId, model, startedAt, endedAt: ownEnd, record }: TracedAttempt,
  { at, answered, isGenAi }: AttemptPlace,
): string {
  const operation = OPERATIONS[api] ?? "chat";
  const { provider, upstreamModel, format, isByok, upstreamStatus, error } = record;
  const attributes: Record<string, AttributeValue> = {
    "gateway.attempt": at + 1,
    "gateway.provider": provider,
    "gateway.model": model,
    "gateway.upstream_model": upstreamModel,
    "gateway.format": format ?? null,
    "gateway.byok": isByok,
    "gateway.result": resultOf(record),
    "http.response.status_code": upstreamStatus,
    "error.type": error,
  };
  if (isGenAi) Object.assign(attributes, describeGenAi({ operation, provider, upstreamModel }, answered));
  return encodeSpan({
    identity: { ...identity, spanId, parentSpanId: identity.spanId },
    kind: "client",
    name: `${operation} ${model}`,
    startedAt,
    endedAt: ownEnd ?? endedAt,
    attributes,
    error,
  });
}

/** The operation of each client API, as the GenAI conventions name it. */
const OPERATIONS: Readonly<Record<string, string>> = {
  completions: "text_completion",
  fim: "text_completion",
  embeddings: "embeddings",
  // The conventions have no names for these.
  moderations: "moderation",
  rerank: "rerank",
  images: "image_generation",
  speech: "speech",
  transcriptions: "transcription",
};

interface GenAiCall {
  readonly operation: string;
  readonly provider: string;
  readonly upstreamModel: string;
}

/** Returns the attributes of the GenAI conventions. Their names are not stable. */
function describeGenAi({ operation, provider, upstreamModel }: GenAiCall, answered: UsageRecord | null) {
  const call: Record<string, AttributeValue> = {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": upstreamModel,
  };
  if (answered === null || answered.firstTokenAt === null) return call;
  const { streamed, createdAt, firstTokenAt, finishReason } = answered;
  return {
    ...call,
    "gen_ai.request.stream": streamed,
    "gen_ai.response.time_to_first_chunk": streamed ? (firstTokenAt - createdAt) / 1_000 : null,
    "gen_ai.response.finish_reasons": finishReason === null ? null : [finishReason],
    "gen_ai.usage.input_tokens": answered.promptTokens,
    "gen_ai.usage.output_tokens": answered.completionTokens,
    "gen_ai.usage.cache_read.input_tokens": answered.cachedTokens,
    "gen_ai.usage.cache_creation.input_tokens": answered.cacheWriteTokens,
    "gen_ai.usage.reasoning.output_tokens": answered.reasoningTokens,
  };
}

interface Span {
  readonly identity: SpanIdentity;
  readonly kind: keyof typeof KIND;
  readonly name: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** The error code; null without an error. */
  readonly error: string | null;
}

function encodeSpan({ identity, kind, name, startedAt, endedAt, attributes, error }: Span): string {
  const { traceId, spanId, parentSpanId, isSampled, state } = identity;
  const parent = parentSpanId === null ? "" : `,"parentSpanId":"${parentSpanId}"`;
  const traceState = state === "" ? "" : `,"traceState":${encodeString(state)}`;
  const status = error === null ? "{}" : `{"code":${ERROR},"message":${encodeString(error)}}`;
  return `{"traceId":"${traceId}","spanId":"${spanId}"${parent}${traceState},"flags":${isSampled ? 1 : 0},"name":${encodeString(name)},"kind":${KIND[kind]},"startTimeUnixNano":${encodeTime(startedAt)},"endTimeUnixNano":${encodeTime(endedAt)},"attributes":${encodeAttributes(attributes)},"status":${status}}`;
}
