import type { Failure } from "../../base/failures/errors.ts";
import type {
  AdmittedCall,
  BeginningAttempt,
  Extension,
  ExtensionPoints,
} from "../generation/call/extension.ts";
import type { RequestTrace } from "../telemetry/request-trace.ts";
import type { AttemptRecord, UsageRecord } from "../usage/records/records.ts";

/** Returns whether the requests to a provider may have the headers of a trace. */
type Propagates = (provider: string) => boolean;

/**
 * Records the attempts of traced requests. `propagatesTo` returns whether requests to a provider may have the headers `traceparent` and
 * `tracestate`, with which the provider could link them to each other.
 */
export function createTracing(propagatesTo: Propagates): Extension {
  return {
    name: "tracing",
    attach: ({ call }) => (call.trace === null ? null : new TracedGeneration(call.trace, call, propagatesTo)),
  };
}

/** A class, because an object with closures costs several times as much per request. Keeps no more of the call than the trace needs. */
class TracedGeneration implements ExtensionPoints {
  private readonly api: string;
  private readonly requestId: string;
  private readonly route: string;

  constructor(
    private readonly trace: RequestTrace,
    { request, requestId, route }: Pick<AdmittedCall, "request" | "requestId" | "route">,
    private readonly propagatesTo: Propagates,
  ) {
    this.api = request.api;
    this.requestId = requestId;
    this.route = route;
  }

  beforeAttempt({ record, model }: BeginningAttempt): Readonly<Record<string, string>> | null {
    this.trace.beginAttempt(record, model);
    return this.propagatesTo(record.provider) ? this.trace.propagationHeaders() : null;
  }

  onAttempt(attempt: AttemptRecord): void {
    this.trace.endAttempt(attempt);
  }

  onSettled(record: UsageRecord, failure: Failure | null): void {
    const { api, requestId, route } = this;
    this.trace.end({ api, requestId, route, status: record.status ?? 0, failure, record });
  }
}
