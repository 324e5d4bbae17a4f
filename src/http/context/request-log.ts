import type { RequestContext } from "./context.ts";

/** Writes a request's one log line, with `about` it. Never a body, a key or an address. */
export function writeRequestLog(
  context: RequestContext,
  status: number,
  about: Readonly<Record<string, unknown>> = {},
): void {
  const { deps, requestId, route, startedAt, logFields } = context;
  const fields = {
    request_id: requestId,
    route,
    status,
    duration_ms: deps.clock.now() - startedAt,
    ...logFields,
    ...about,
  };
  if (status >= 500) deps.log.warn("request", fields);
  else if (QUIET.has(route)) deps.log.debug("request", fields);
  else deps.log.info("request", fields);
}

/** Asked for every few seconds by whoever watches the process. */
const QUIET = new Set(["/healthz", "/readyz"]);
