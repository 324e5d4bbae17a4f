import { writeRequestLine } from "../../core/extensions/request-log.ts";
import type { RequestContext } from "./context.ts";

/** Writes the log line of a request that did not become a generation. It contains no body, key or address. */
export function writeRequestLog(context: RequestContext, status: number): void {
  const { deps, requestId, route, startedAt, logFields } = context;
  const fields = {
    request_id: requestId,
    route,
    status,
    duration_ms: deps.clock.now() - startedAt,
    ...logFields,
  };
  if (status < 500 && QUIET.has(route)) deps.log.debug("request", fields);
  else writeRequestLine(deps.log, status, fields);
}

/** Health checks and scrapes arrive every few seconds. */
const QUIET = new Set(["/healthz", "/readyz", "/metrics"]);
