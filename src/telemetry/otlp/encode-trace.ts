import { BoundedMap } from "../../base/collections/bounded-map.ts";
import { outcomeOf, outcomeOfFailure, type RequestOutcome, resultOf } from "../../core/extensions/metrics.ts";
import type {
  EndedTrace,
  SpanIdentity,
  TracedAttempt,
  TracedEnd,
} from "../../core/telemetry/request-trace.ts";
import { describeGenAiAnswer, describeGenAiCall, operationOf } from "./describe-gen-ai.ts";
import { type Attributes, encodeAttributes, encodeNumber, encodeTime } from "./json.ts";

const KIND = { server: 2, client: 3 } as const;
const ERROR = 2;

/** Returns how a traced request ended. */
export function outcomeOfTrace({ record, failure }: Pick<TracedEnd, "record" | "failure">): RequestOutcome {
  if (record !== null) return outcomeOf(record, failure);
  return failure === null ? "completed" : outcomeOfFailure(failure);
}

/**
 * Encodes traces: a SERVER span for each request, and below it a CLIENT span for each attempt. Never includes contents. Most of a span is
 * the same for all requests with the same route, model, provider and result. Such parts are encoded once and kept.
 */
export class TraceEncoder {
  private readonly requestTexts = new SharedTexts();
  private readonly attemptTexts = new SharedTexts();

  constructor(private readonly isGenAi: boolean) {}

  /** Returns the spans of a trace, separated by commas. */
  encode(trace: EndedTrace): string {
    const { identity, attempts, startedAt, endedAt } = trace;
    const { spanId, parentSpanId } = identity;
    const begin = beginSpan(identity);
    const parent = parentSpanId === null ? "" : `,"parentSpanId":"${parentSpanId}"`;
    const end = encodeTime(endedAt);
    let text = `${begin},"spanId":"${spanId}"${parent},"startTimeUnixNano":${encodeTime(startedAt)},"endTimeUnixNano":${end},${this.encodeRequest(trace)}]}`;
    for (let at = 0; at < attempts.length; at++) {
      const attempt = attempts[at] as TracedAttempt;
      const ownEnd = attempt.endedAt === null ? end : encodeTime(attempt.endedAt);
      text += `,${begin},"spanId":"${attempt.spanId}","parentSpanId":"${spanId}","startTimeUnixNano":${encodeTime(attempt.startedAt)},"endTimeUnixNano":${ownEnd},${this.encodeAttempt(trace, at)}]}`;
    }
    return text;
  }

  /** Returns the end of a request's span, from its name to its last attribute. Ids that the gateway makes need no escaping. */
  private encodeRequest(trace: EndedTrace): string {
    const { requestId, record } = trace.end;
    const text = `${this.findRequestText(trace)},{"key":"gateway.request_id","value":{"stringValue":"${requestId}"}}`;
    if (record === null) return text;
    return `${text},{"key":"gateway.generation_id","value":{"stringValue":"${record.id}"}},{"key":"gateway.prompt_tokens","value":${encodeNumber(record.promptTokens)}},{"key":"gateway.completion_tokens","value":${encodeNumber(record.completionTokens)}},{"key":"gateway.cost_nanodollars","value":${encodeNumber(record.costNanodollars)}}`;
  }

  private findRequestText({ attempts, end }: EndedTrace): string {
    const { api, route, status, failure, record } = end;
    const outcome = outcomeOfTrace(end);
    const key = `${route}\n${api}\n${status}\n${outcome}\n${failure?.code}\n${record?.model}\n${record?.provider}\n${attempts.length}`;
    return this.requestTexts.find(key, () =>
      encodeShared({
        kind: "server",
        name: `POST ${route}`,
        attributes: describeRequest(end, { outcome, attempts: attempts.length }),
        // As the HTTP conventions define it for servers: a request that is at fault itself is no error.
        error: outcome === "failed" ? (failure?.code ?? "failed") : null,
      }),
    );
  }

  /** Returns the end of an attempt's span, from its name to its last attribute. */
  private encodeAttempt({ attempts, end: { api, record } }: EndedTrace, at: number): string {
    const attempt = attempts[at] as TracedAttempt;
    const text = this.findAttemptText(attempt, api, at);
    const isLast = at === attempts.length - 1;
    if (!this.isGenAi || !isLast || record === null || record.firstTokenAt === null) return text;
    return `${text},${encodeAttributes(describeGenAiAnswer(record))}`;
  }

  private findAttemptText({ model, record }: TracedAttempt, api: string, at: number): string {
    const { provider, upstreamModel, format, isByok, upstreamStatus, error } = record;
    const key = `${model}\n${provider}\n${upstreamModel}\n${format}\n${isByok}\n${upstreamStatus}\n${error}\n${api}\n${at}`;
    return this.attemptTexts.find(key, () => {
      const operation = operationOf(api);
      const attributes = describeAttempt({ model, record }, at);
      const genAi = this.isGenAi ? describeGenAiCall({ operation, provider, upstreamModel }) : {};
      const name = `${operation} ${model}`;
      return encodeShared({ kind: "client", name, attributes: { ...attributes, ...genAi }, error });
    });
  }
}

/** Returns the beginning that all spans of a trace share. */
function beginSpan({ traceId, isSampled, state }: SpanIdentity): string {
  const begin = `{"traceId":"${traceId}","flags":${isSampled ? 1 : 0}`;
  return state === "" ? begin : `${begin},"traceState":${JSON.stringify(state)}`;
}

interface RequestResult {
  readonly outcome: RequestOutcome;
  readonly attempts: number;
}

/** Returns the attributes that requests with the same result share. */
function describeRequest(
  { api, route, status, failure, record }: TracedEnd,
  { outcome, attempts }: RequestResult,
): Attributes {
  return {
    "http.request.method": "POST",
    "http.route": route,
    "http.response.status_code": status,
    "error.type": failure?.code ?? null,
    "gateway.api": api,
    "gateway.outcome": outcome,
    "gateway.model": record?.model ?? null,
    "gateway.provider": record?.provider ?? null,
    "gateway.attempts": attempts,
  };
}

function describeAttempt({ model, record }: Pick<TracedAttempt, "model" | "record">, at: number): Attributes {
  return {
    "gateway.attempt": at + 1,
    "gateway.provider": record.provider,
    "gateway.model": model,
    "gateway.upstream_model": record.upstreamModel,
    "gateway.format": record.format ?? null,
    "gateway.byok": record.isByok,
    "gateway.result": resultOf(record),
    "http.response.status_code": record.upstreamStatus,
    "error.type": record.error,
  };
}

interface SharedPart {
  readonly kind: keyof typeof KIND;
  readonly name: string;
  readonly attributes: Attributes;
  /** The error code; null without an error. */
  readonly error: string | null;
}

/** Encodes what spans share. The array of attributes stays open for those of one span. */
function encodeShared({ kind, name, attributes, error }: SharedPart): string {
  const status = error === null ? "{}" : `{"code":${ERROR},"message":${JSON.stringify(error)}}`;
  return `"name":${JSON.stringify(name)},"kind":${KIND[kind]},"status":${status},"attributes":[${encodeAttributes(attributes)}`;
}

/** Texts that are kept; the oldest makes room for a new one. Up to a kilobyte each. */
const MAX_TEXTS = 1_000;

/** Keeps encoded texts that many spans share, because encoding one costs ten times as much as finding it. */
class SharedTexts {
  private readonly texts = new BoundedMap<string, string>({ max: MAX_TEXTS });

  /** Returns the text of a key, which `encode` returns the first time. */
  find(key: string, encode: () => string): string {
    const known = this.texts.get(key);
    if (known !== undefined) return known;
    const text = encode();
    this.texts.set(key, text);
    return text;
  }
}
