import { fail } from "../../base/failures/errors.ts";
import type { AllowedOrigins } from "../context/context.ts";

/** How long a browser remembers the answer to a preflight. Seconds; browsers have maxima of their own. */
const PREFLIGHT_S = 7_200;
/** The longest list of headers that a preflight may name. Characters. */
const MAX_HEADER_CHARS = 2_000;
const HEADER_LIST = /^[\w!#$%&'*+.^`|~-]+(\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

/**
 * Lets scripts of an allowed origin read a response, its headers included. Credentials of the browser are never allowed: callers send
 * their key in a header, which only their own script knows.
 */
export function allowOrigin(response: Response, request: Request, allowed: AllowedOrigins): void {
  if (allowed === null) return;
  const origin = findAllowed(request, allowed);
  if (allowed !== "*") response.headers.append("vary", "origin");
  if (origin === null) return;
  response.headers.set("access-control-allow-origin", origin);
  response.headers.set("access-control-expose-headers", "*");
}

/** Whether a request is a preflight, with which a browser asks whether a script of another origin may send a request. */
export function isPreflight(request: Request): boolean {
  if (request.method !== "OPTIONS") return false;
  return request.headers.has("origin") && request.headers.has("access-control-request-method");
}

/**
 * Answers a preflight for a path with these methods. It needs no key, because browsers send none.
 * @throws GatewayError `permission_denied` for an origin that is not allowed.
 */
export function answerPreflight(
  request: Request,
  allowed: Exclude<AllowedOrigins, null>,
  methods: readonly string[],
): Response {
  if (findAllowed(request, allowed) === null) rejectOrigin();
  const asked = request.headers.get("access-control-request-headers") ?? "";
  const isList = asked.length <= MAX_HEADER_CHARS && HEADER_LIST.test(asked);
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": methods.join(", "),
      // Named individually, because a wildcard does not include Authorization.
      ...(isList ? { "access-control-allow-headers": asked } : {}),
      "access-control-max-age": String(PREFLIGHT_S),
      vary: "access-control-request-headers",
    },
  });
}

/**
 * Rejects a page of another origin that opens a WebSocket: browsers send no preflight before that. Clients that are no browsers may send the
 * gateway's own origin, or none.
 * @throws GatewayError `permission_denied`.
 */
export function requireOrigin(request: Request, allowed: AllowedOrigins, publicUrl: URL | null): void {
  const origin = request.headers.get("origin");
  if (origin === null || origin === publicUrl?.origin || isOwnHost(origin, request)) return;
  if (allowed === null || findAllowed(request, allowed) === null) rejectOrigin();
}

/** Whether an origin has the host that the request was sent to. */
function isOwnHost(origin: string, { headers }: Request): boolean {
  return URL.canParse(origin) && new URL(origin).host === headers.get("host")?.toLowerCase();
}

function rejectOrigin(): never {
  return fail(
    "permission_denied",
    "Pages of this origin may not call the gateway. Add the origin to server.cors.origins in the configuration.",
  );
}

function findAllowed(request: Request, allowed: Exclude<AllowedOrigins, null>): string | null {
  if (allowed === "*") return "*";
  const origin = request.headers.get("origin");
  return origin !== null && allowed.has(origin) ? origin : null;
}
