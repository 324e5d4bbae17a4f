import type { Failure } from "../../base/failures/errors.ts";
import type { Stopwatch } from "../../base/time/stopwatch.ts";
import type { AttemptRecord, UsageRecord } from "../usage/records/records.ts";

/** The identity of a span, and the decision whether its trace is recorded. */
export interface SpanIdentity {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** The caller's span; null if the trace begins here. */
  readonly parentSpanId: string | null;
  readonly isSampled: boolean;
  /** The caller's `tracestate`, which is passed on unchanged; empty if there is none. */
  readonly state: string;
}

/** One attempt of a traced request. Times are milliseconds since the epoch, with fractions. */
export interface TracedAttempt {
  readonly spanId: string;
  readonly model: string;
  readonly startedAt: number;
  /** Null until it has failed, or its answer has ended. */
  endedAt: number | null;
  record: AttemptRecord;
}

/** A request that has ended, for its trace. */
export interface TracedEnd {
  readonly api: string;
  readonly requestId: string;
  /** The path pattern of the route, without the gateway prefix. */
  readonly route: string;
  readonly status: number;
  readonly failure: Failure | null;
  /** Null for a request that became no generation. */
  readonly record: UsageRecord | null;
}

/** A request with its attempts, and its end. Times are milliseconds since the epoch, with fractions. */
export interface EndedTrace {
  readonly identity: SpanIdentity;
  readonly end: TracedEnd;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attempts: readonly TracedAttempt[];
}

/** The arrival of a traced request. */
interface TracedArrival {
  /** When the request arrived, by the system's clock. Milliseconds since the epoch. */
  readonly arrivedAt: number;
  readonly stopwatch: Pick<Stopwatch, "elapsedMs">;
}

/** The common parts of all traces. */
interface TraceOwner {
  /** Returns 16 hexadecimal digits. */
  readonly makeSpanId: () => string;
  /** Called once for each trace, with the whole request. */
  readonly onEnded: (trace: EndedTrace) => void;
}

/** The trace of one request while it runs. */
export class RequestTrace {
  private readonly attempts: TracedAttempt[] = [];
  private hasEnded = false;

  constructor(
    private readonly identity: SpanIdentity,
    private readonly arrival: TracedArrival,
    private readonly owner: TraceOwner,
  ) {}

  /** The id that log lines and other systems have of the request. */
  get traceId(): string {
    return this.identity.traceId;
  }

  /** Begins the span of an attempt. */
  beginAttempt(record: AttemptRecord, model: string): void {
    const spanId = this.owner.makeSpanId();
    this.attempts.push({ spanId, model, startedAt: this.now(), endedAt: null, record });
  }

  /** Records the outcome of the last attempt. If the attempt answers, its span stays open until the request ends. */
  endAttempt(record: AttemptRecord): void {
    const last = this.attempts.at(-1);
    if (last === undefined) return;
    last.record = record;
    if (record.error !== null) last.endedAt = this.now();
  }

  /** Returns the headers by which a provider continues the trace below the last attempt (W3C Trace Context). */
  propagationHeaders(): Record<string, string> {
    const { traceId, isSampled, state } = this.identity;
    const spanId = this.attempts.at(-1)?.spanId ?? this.identity.spanId;
    const headers: Record<string, string> = {
      traceparent: `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`,
    };
    if (state !== "") headers["tracestate"] = state;
    return headers;
  }

  /** Ends the trace. Further calls do nothing. */
  end(end: TracedEnd): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const { identity, arrival, attempts } = this;
    this.owner.onEnded({ identity, end, startedAt: arrival.arrivedAt, endedAt: this.now(), attempts });
  }

  private now(): number {
    return this.arrival.arrivedAt + this.arrival.stopwatch.elapsedMs();
  }
}

/** The headers with which a request continues a trace; null if absent. */
export interface TraceHeaders {
  readonly traceparent: string | null;
  readonly tracestate: string | null;
}

/** Begins traces. */
export interface Tracer {
  /** Begins the trace of a request, or continues its caller's. */
  begin(headers: TraceHeaders, arrival: TracedArrival): RequestTrace;
}
