import { isIP } from "node:net";
import { fail } from "../../base/failures/errors.ts";
import type { ConsoleDeps } from "../context/console-deps.ts";
import type { RequestContext } from "../context/context.ts";

/** The methods that change nothing. */
const READS = new Set(["GET", "HEAD"]);
/** The methods whose requests have a body. It must be JSON, which a form of another site cannot send. */
const WITH_BODY = new Set(["POST", "PUT", "PATCH"]);

/** Returns the host of a request, with its port; an empty text if there is none. */
function hostOf(request: Request): string {
  return request.headers.get("host")?.toLowerCase() ?? "";
}

/**
 * Rejects a host name that the operator has not configured. Prevents DNS rebinding, where a page of another site resolves its own name to
 * the gateway's address. IP addresses are accepted, because they cannot be rebound.
 * @throws GatewayError `permission_denied`.
 */
export function requireConsoleHost(request: Request, console: ConsoleDeps): void {
  const problem = findHostProblem(request, console);
  if (problem !== null)
    fail("permission_denied", problem, { metadata: { host: hostOf(request).slice(0, MAX_SHOWN_CHARS) } });
}

/** Returns why the console does not serve the host of a request, and what to configure; null if it does. */
export function findHostProblem(request: Request, { hosts, publicUrl }: ConsoleDeps): string | null {
  const host = hostOf(request);
  const name = nameOf(host);
  const isKnown = isLoopbackName(name) || isAddress(name) || hosts.has(name) || publicUrl?.hostname === name;
  return isKnown
    ? null
    : `The console does not serve the host "${host.slice(0, MAX_SHOWN_CHARS)}". Add it to console.hosts in the configuration. Behind a reverse proxy, set console.url to the URL that browsers use, and let the proxy forward the Host header.`;
}

/** The characters of a host that an error shows. */
const MAX_SHOWN_CHARS = 255;

function nameOf(host: string): string {
  return host.replace(/:\d*$/, "");
}

function isLoopbackName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost");
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
}

/**
 * Rejects requests that a page of another site makes a browser send (cross-site request forgery). Requests that change something must come
 * from the console's own origin, and their bodies must be JSON. `acceptsOthers` accepts clients that are not browsers, which send neither
 * `Sec-Fetch-Site` nor `Origin`.
 * @throws GatewayError `permission_denied`, `unsupported_media_type`.
 */
export function requireSameOrigin(
  request: Request,
  console: ConsoleDeps,
  { acceptsOthers = false }: { readonly acceptsOthers?: boolean } = {},
): void {
  const { headers, method } = request;
  const isRead = READS.has(method);
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isAllowed =
    site !== null
      ? site === "same-origin" || (isRead && site === "none")
      : origin !== null
        ? isOwnOrigin(origin, request, console)
        : isRead || acceptsOthers;
  if (!isAllowed) rejectOtherOrigin();
  if (WITH_BODY.has(method) && !isJson(headers.get("content-type")))
    fail(
      "unsupported_media_type",
      'The content-type of a request with a session must be "application/json".',
    );
}

function isOwnOrigin(origin: string, request: Request, { publicUrl }: ConsoleDeps): boolean {
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  return url.origin === publicUrl?.origin || url.host === hostOf(request);
}

function isJson(contentType: string | null): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType ?? "");
}

function rejectOtherOrigin(): never {
  return fail(
    "permission_denied",
    "A request with a console session must come from the console's own page: Sec-Fetch-Site must be same-origin, or Origin must be the gateway. Scripts must send a management key instead of the cookie.",
  );
}

/** Returns whether a browser reaches the gateway over TLS, according to the configured URL or the `x-forwarded-proto` of a trusted proxy. */
export function isHttps(request: Request, context: RequestContext): boolean {
  const { deps } = context;
  const { publicUrl } = deps.browser.console ?? { publicUrl: null };
  if (publicUrl !== null && publicUrl.host === hostOf(request)) return publicUrl.protocol === "https:";
  const forwarded = request.headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim().toLowerCase();
  return forwarded === "https" && deps.clients.trustedProxies.has(context.peer());
}

/**
 * Returns the prefix of the gateway's paths as the browser of a request sees them: the path of the configured URL, without a trailing
 * slash. Empty for a browser that does not come through the proxy that removes the prefix.
 */
export function basePathOf(request: Request, { publicUrl }: Pick<ConsoleDeps, "publicUrl">): string {
  return publicUrl !== null && publicUrl.host === hostOf(request) ? pathOf(publicUrl) : "";
}

function pathOf({ pathname }: URL): string {
  return pathname.replace(/\/+$/, "");
}

/** Returns the URL of the gateway for browsers, without a slash at its end: `http://127.0.0.1:8080`. */
export function baseUrlOf(request: Request, context: RequestContext): string {
  const { publicUrl } = context.deps.browser.console ?? { publicUrl: null };
  if (publicUrl !== null) return publicUrl.origin + pathOf(publicUrl);
  return `${isHttps(request, context) ? "https" : "http"}://${hostOf(request)}`;
}
