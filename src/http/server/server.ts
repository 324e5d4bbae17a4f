import type { BunRequest, Server } from "bun";
import { GatewayError } from "../../base/failures/errors.ts";
import type { AllowedOrigins, Handler, HttpDeps } from "../context/context.ts";
import { urlOf } from "../context/url-of.ts";
import { findUnserved } from "../errors/unserved-endpoints.ts";
import { answerPreflight, isPreflight } from "./cross-origin.ts";
import { explainUnknownPath } from "./explain-path.ts";
import {
  type ClientConnection,
  IDLE_S,
  RequestState,
  renderUnexpected,
  type ServedRoute,
} from "./request-state.ts";
import { FIXED_ROUTES, GATEWAY_ROUTES, OPEN_FIXED_ROUTES, PREFIXES } from "./route-table.ts";
import { boundSendBuffers } from "./send-buffers.ts";

type Methods = Readonly<Record<string, Handler>>;
type GatewayServer = Server<undefined>;

/** The address to listen on, and the gateway prefixes. */
interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Gateway prefixes in addition to the built-in ones. */
  readonly extraPrefixes: readonly string[];
  /** The send buffer of a connection in bytes; 0 for the default of the system. */
  readonly sendBufferBytes: number;
  /** Whether other processes listen on the same address. The system then distributes connections over them. */
  readonly sharesPort: boolean;
}

/** A listening server. */
export interface HttpServer {
  readonly port: number;
  /** Returns how many requests are in progress. */
  inProgress(): number;
  /** Stops accepting connections, and closes those without a request. Resolves when the requests in progress have ended. */
  stop(): Promise<void>;
  /** Closes all connections. */
  kill(): void;
}

/**
 * Starts a server.
 * @throws Error if the address is in use or not available.
 */
export function listen(deps: ServedRoute["deps"], options: ListenOptions): HttpServer {
  const { port, sendBufferBytes } = options;
  const { result: server, isBounded } =
    sendBufferBytes === 0
      ? { result: serveAll(deps, options), isBounded: true }
      : boundSendBuffers(sendBufferBytes, () => serveAll(deps, options));
  if (!isBounded) deps().log.debug("the system's send buffers are not bounded here");
  return {
    port: server.port ?? port,
    inProgress: () => server.pendingRequests,
    stop: () => server.stop(false),
    kill: () => void server.stop(true),
  };
}

function serveAll(
  deps: ServedRoute["deps"],
  { host, port, extraPrefixes, sharesPort }: ListenOptions,
): GatewayServer {
  return Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_S,
    // readRequestBody bounds bodies, with an error response that the runtime's limit would not send.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Set explicitly, because outside of development the runtime would share the port with any process of the same user.
    reusePort: sharesPort,
    routes: buildRoutes(deps, extraPrefixes),
    fetch: (request, server) =>
      serve({ deps, route: "unknown", methods: NO_METHODS, isOpen: true }, request, server),
    error: (error) => renderUnexpected(deps().log, error),
  });
}

type RouteHandler = (request: BunRequest, server: GatewayServer) => Response | Promise<Response>;

function buildRoutes(
  deps: ServedRoute["deps"],
  extraPrefixes: readonly string[],
): Record<string, RouteHandler> {
  const routes: Record<string, RouteHandler> = {};
  const add = (path: string, name: string, methods: Methods, isOpen: boolean): void => {
    const route: HandledRoute = { deps, route: name, methods, isOpen };
    routes[path] = (request, server) => serve(route, request, server);
    // Clients that join a base URL and a path may add a slash.
    if (!/[/*]$/.test(path)) routes[`${path}/`] ??= routes[path];
  };
  for (const [path, methods] of Object.entries(FIXED_ROUTES)) add(path, path, methods, false);
  for (const [path, methods] of Object.entries(OPEN_FIXED_ROUTES)) add(path, path, methods, true);
  for (const prefix of [...PREFIXES, ...extraPrefixes]) {
    for (const [path, methods] of Object.entries(GATEWAY_ROUTES)) add(prefix + path, path, methods, true);
  }
  return routes;
}

const NO_METHODS: Methods = {};
/** The methods that a page may use for an unserved path, so that it can read the error. */
const ANY_METHOD: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** Copies headers of clients of other gateways to the gateway's own names. An existing header of that name takes precedence. */
function renameHeaders(headers: Headers, aliases: HttpDeps["clients"]["headerAliases"]): void {
  for (const [from, to] of aliases) {
    const value = headers.get(from);
    if (value !== null && !headers.has(to)) headers.set(to, value);
  }
}

/** A route and its handlers. */
interface HandledRoute extends ServedRoute {
  readonly methods: Methods;
}

/** Handles one request, from its id to its response and its log line. */
export function serve(
  route: HandledRoute,
  request: Request,
  server: ClientConnection,
): Response | Promise<Response> {
  const context = new RequestState(route, request, server);
  try {
    renameHeaders(request.headers, context.deps.clients.headerAliases);
    requireOneHost(request.headers.get("host"));
    const handled = findHandler(route.methods, request, context.origins)(request, context);
    if (handled instanceof Promise) return completeLater(handled, context);
    // For HEAD the runtime omits the body and keeps its length.
    return context.complete(withRequestId(handled, context));
  } catch (error) {
    return context.fail(error);
  }
}

async function completeLater(handled: Promise<Response>, context: RequestState): Promise<Response> {
  try {
    return context.complete(withRequestId(await handled, context));
  } catch (error) {
    return context.fail(error);
  }
}

/** A response that ends by itself has the id already. To change the headers of a response, the runtime makes another copy of them. */
function withRequestId(response: Response, { requestId, endsItself }: RequestState): Response {
  if (!endsItself) response.headers.set("x-request-id", requestId);
  return response;
}

/** The characters that no host has, even if the URL parser accepts them. A comma means that the runtime has joined two headers. */
const INVALID_HOST = /[\s,/?#@\\]/;
/**
 * Rejects a host that is none, and ambiguous ones, which a proxy and this server could interpret differently (RFC 9112, section 3.2).
 */
function requireOneHost(host: string | null): void {
  if (host === null) return;
  if (host !== "" && (INVALID_HOST.test(host) || !URL.canParse(`http://${host}/`)))
    throw new GatewayError({
      code: "invalid_request",
      message:
        'The request must have exactly one "host" header with exactly one host: a name or an address, and a port up to 65535 if it has one.',
      headers: { connection: "close" },
    });
}

function findHandler(methods: Methods, request: Request, origins: AllowedOrigins): Handler {
  if (origins !== null && isPreflight(request))
    return () =>
      answerPreflight(request, origins, methods === NO_METHODS ? ANY_METHOD : listMethods(methods));
  const handler = methods[request.method] ?? (request.method === "HEAD" ? methods["GET"] : undefined);
  return handler ?? (methods === NO_METHODS ? rejectUnknownPath : rejectMethod(methods));
}

function rejectUnknownPath(request: Request): never {
  throw new GatewayError({ code: "not_found", message: explainUnknownPath(urlOf(request).pathname) });
}

function listMethods(methods: Methods): readonly string[] {
  const names = Object.keys(methods);
  return names.includes("GET") ? [...names, "HEAD"] : names;
}

function rejectMethod(methods: Methods): Handler {
  const allow = listMethods(methods).join(", ");
  return (request) => {
    if (request.headers.get("upgrade")?.toLowerCase() === "websocket") rejectWebSocket();
    // Actions of Gemini's API stand at the paths of models.
    const hint = findUnserved(urlOf(request).pathname)?.hint;
    throw new GatewayError({
      code: "method_not_allowed",
      message: `This path supports ${allow} only.${hint === undefined ? "" : ` ${hint}`}`,
      headers: { allow },
    });
  };
}

/** Clients that try a WebSocket first switch to HTTP immediately after this status, and only after a pause after others. */
function rejectWebSocket(): never {
  throw new GatewayError({
    code: "upgrade_required",
    message:
      "This endpoint does not support WebSockets. Send the request over HTTP, and stream answers as server-sent events.",
    // Required by RFC 9110, section 15.5.22.
    headers: { upgrade: "HTTP/1.1" },
  });
}
