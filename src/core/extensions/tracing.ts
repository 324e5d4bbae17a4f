import type { Extension, ExtensionPoints } from "../generation/extension.ts";

/**
 * Records the attempts of traced requests. `propagatesTo` returns whether the requests to a provider may have the headers
 * `traceparent` and `tracestate`, by which the provider could connect them with each other.
 */
export function createTracing(propagatesTo: (provider: string) => boolean): Extension {
  return {
    name: "tracing",
    attach({ call }): ExtensionPoints | null {
      const { trace, request, requestId, route } = call;
      if (trace === null) return null;
      return {
        beforeAttempt({ record, model }) {
          trace.beginAttempt(record, model);
          return propagatesTo(record.provider) ? trace.propagationHeaders() : null;
        },
        onAttempt: (attempt) => trace.endAttempt(attempt),
        onSettled: (record, failure) =>
          trace.end({ api: request.api, requestId, route, status: record.status ?? 0, failure, record }),
      };
    },
  };
}
