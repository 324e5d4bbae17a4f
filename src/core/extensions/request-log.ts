import type { Failure } from "../../base/failures/errors.ts";
import type { Log } from "../../base/failures/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { AdmittedCall, Extension, ExtensionPoints } from "../generation/call/extension.ts";
import type { UsageRecord } from "../usage/records/records.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The dependencies of a request log. */
interface RequestLogParts {
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
}

/** Writes one log line for each generation once it has ended. It contains no body, key or address. */
export function createRequestLog(parts: RequestLogParts): Extension {
  return { name: "request-log", attach: ({ call }) => new LoggedGeneration(parts, call) };
}

/** A class, because an object with closures costs several times as much per request. */
class LoggedGeneration implements ExtensionPoints {
  constructor(
    private readonly parts: RequestLogParts,
    private readonly call: AdmittedCall,
  ) {}

  onSettled(record: UsageRecord, failure: Failure | null): void {
    const { clock, log } = this.parts;
    const fields = describeRecord(this.call, record, clock.now());
    Object.assign(fields, this.call.logFields);
    if (failure?.internal !== undefined) fields["detail"] = failure.internal;
    writeRequestLine(log, record.status ?? 0, fields);
  }
}

/** Writes the log line of a request: as a warning if the gateway or a provider failed, otherwise as information. */
export function writeRequestLine(log: Pick<Log, "info" | "warn">, status: number, fields: Fields): void {
  if (status >= 500) log.warn("request", fields);
  else log.info("request", fields);
}

/**
 * Returns the fields of a generation's log line. Times are milliseconds of the clock; `now` is when it ended.
 *
 * One literal without spreads: the line is built for every request.
 */
export function describeRecord(
  call: Pick<AdmittedCall, "requestId" | "route" | "receivedAt">,
  record: UsageRecord,
  now: number,
): Record<string, unknown> {
  return {
    request_id: call.requestId,
    route: call.route,
    status: record.status ?? 0,
    duration_ms: now - call.receivedAt,
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
