import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Extension } from "../generation/extension.ts";
import type { UsageRecord } from "../usage/records.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Writes one log line for each generation once it has ended. It contains no body, key or address. */
export function createRequestLog({
  clock,
  log,
}: {
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
}): Extension {
  return {
    name: "request-log",
    attach: ({ call }) => ({
      onSettled(record, failure) {
        const status = record.status ?? 0;
        writeRequestLine(log, status, {
          request_id: call.requestId,
          route: call.route,
          status,
          duration_ms: clock.now() - call.receivedAt,
          ...call.logFields,
          ...(failure?.internal === undefined ? {} : { detail: failure.internal }),
          ...describeRecord(record),
        });
      },
    }),
  };
}

/** Writes the log line of a request: a warning if the gateway or a provider failed, else for information. */
export function writeRequestLine(log: Pick<Log, "info" | "warn">, status: number, fields: Fields): void {
  if (status >= 500) log.warn("request", fields);
  else log.info("request", fields);
}

function describeRecord(record: UsageRecord): Fields {
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
