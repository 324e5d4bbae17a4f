import type { BunRequest, Server, SocketAddress } from "bun";
import { GatewayError } from "../../base/failures/errors.ts";
import type { AllowedOrigins, Handler, HttpDeps } from "../context/context.ts";
import type { SocketTurn } from "../context/socket-turn.ts";
import { urlOf } from "../context/url-of.ts";
import { findUnserved } from "../errors/unserved-endpoints.ts";
import { answerPreflight, isPreflight } from "../middleware/cross-origin.ts";
import type { ClientSocket } from "../sockets/client-socket.ts";
import type { SocketOperation, SocketRoute } from "../sockets/socket-route.ts";
import { MAX_UNREAD_BYTES } from "../sockets/socket-writer.ts";
import { Sockets } from "../sockets/sockets.ts";
import { explainUnknownPath } from "./explain-path.ts";
import {
  type ClientConnection,
  IDLE_S,
  RequestState,
  renderUnexpected,
  type ServedRoute,
} from "./request-state.ts";
import {
  FIXED_ROUTES,
  GATEWAY_ROUTES,
  OPEN_FIXED_ROUTES,
  PREFIXES,
  SOCKET_OPERATIONS,
} from "./route-table.ts";
import { boundSendBuffers } from "./send-buffers.ts";

type Methods = Readonly<Record<string, Handler>>;
type GatewayServer = Server<ClientSocket>;

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
  /** Closes WebSockets once their running requests have ended, and lets none be opened. `Shutdown.isDraining` must be set. */
  retireSockets(): void;
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
  const sockets = new Sockets(deps);
  const { result: server, isBounded } =
    sendBufferBytes === 0
      ? { result: serveAll(deps, options, sockets), isBounded: true }
      : boundSendBuffers(sendBufferBytes, () => serveAll(deps, options, sockets));
  if (!isBounded) deps().log.debug("the system's send buffers are not bounded here");
  return {
    port: server.port ?? port,
    inProgress: () => server.pendingRequests,
    retireSockets: () => sockets.retire(),
    stop: () => server.stop(false),
    kill: () => void server.stop(true),
  };
}

function serveAll(
  deps: ServedRoute["deps"],
  { host, port, extraPrefixes, sharesPort }: ListenOptions,
  sockets: Sockets,
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
    routes: buildRoutes(deps, extraPrefixes, sockets),
    websocket: {
      ...sockets.handlers,
      // A larger frame closes its connection with the code 1009.
      maxPayloadLength: deps().bodies.maxBodyBytes,
      backpressureLimit: MAX_UNREAD_BYTES,
      perMessageDeflate: false,
      // Sockets are pinged, and closed when they do not answer, by the gateway's own timers.
      idleTimeout: 0,
      sendPings: false,
    },
    fetch: (request, server) =>
      serve({ deps, route: "unknown", methods: NO_METHODS, isOpen: true }, request, server),
    error: (error) => renderUnexpected(deps().log, error),
  });
}

type RouteHandler = (
  request: BunRequest,
  server: GatewayServer,
) => Response | Promise<Response | undefined> | undefined;

function buildRoutes(
  deps: ServedRoute["deps"],
  extraPrefixes: readonly string[],
  sockets: Sockets,
): Record<string, RouteHandler> {
  const routes: Record<string, RouteHandler> = {};
  const add = (path: string, name: string, methods: Methods, isOpen: boolean): void => {
    const route: HandledRoute = { deps, route: name, methods, isOpen };
    const operation = isOpen ? SOCKET_OPERATIONS[name] : undefined;
    routes[path] =
      operation === undefined
        ? (request, server) => serve(route, request, server)
        : serveWithSockets(sockets, route, operation);
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

/** Returns the handler of a path at which WebSockets are opened, unless the operator allows none. */
function serveWithSockets(sockets: Sockets, route: HandledRoute, operation: SocketOperation): RouteHandler {
  const answer = (request: Request, turn: SocketTurn, peer: SocketAddress | null) =>
    serve(route, request, { requestIP: () => peer, timeout() {} }, turn);
  const socketRoute = { ...operation, answer };
  return (request, server) =>
    request.method === "GET" && isUpgrade(request) && route.deps().sockets.limits.total > 0
      ? openSocket(sockets, { route, socketRoute }, request, server)
      : serve(route, request, server);
}

/** A route of requests over HTTP, and the one of requests over WebSockets at the same path. */
interface BothRoutes {
  readonly route: HandledRoute;
  readonly socketRoute: SocketRoute;
}

/** Opens a WebSocket, and writes the log line of its upgrade. Resolves to undefined, or to an error response. */
async function openSocket(
  sockets: Sockets,
  { route, socketRoute }: BothRoutes,
  request: Request,
  server: GatewayServer,
): Promise<Response | undefined> {
  const context = new RequestState(route, request, server);
  context.logFields["transport"] = "websocket";
  try {
    prepare(request, context);
    await sockets.accept(request, context, { server, route: socketRoute });
    context.complete(new Response(null, { status: 101 }));
    return undefined;
  } catch (error) {
    return context.fail(error);
  }
}

function isUpgrade({ headers }: Request): boolean {
  return headers.get("upgrade")?.toLowerCase() === "websocket";
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

/** Handles one request, from its id to its response and its log line. `turn` is that of a request that arrived over a WebSocket. */
export function serve(
  route: HandledRoute,
  request: Request,
  server: ClientConnection,
  turn: SocketTurn | null = null,
): Response | Promise<Response> {
  const context = new RequestState(route, request, server, turn);
  try {
    prepare(request, context);
    const handled = findHandler(route.methods, request, context.origins)(request, context);
    if (handled instanceof Promise) return completeLater(handled, context);
    // For HEAD the runtime omits the body and keeps its length.
    return context.complete(withRequestId(handled, context));
  } catch (error) {
    return context.fail(error);
  }
}

/** @throws GatewayError `invalid_request`. */
function prepare({ headers }: Request, { deps }: RequestState): void {
  renameHeaders(headers, deps.clients.headerAliases);
  requireOneHost(headers.get("host"));
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
    if (isUpgrade(request)) rejectWebSocket(NO_SOCKETS);
    // Proxies that pass no upgrades on leave the other headers of the handshake.
    if (request.headers.has("sec-websocket-key")) rejectWebSocket(UPGRADE_REMOVED);
    // Actions of Gemini's API stand at the paths of models.
    const hint = findUnserved(urlOf(request).pathname)?.hint;
    throw new GatewayError({
      code: "method_not_allowed",
      message: `This path supports ${allow} only.${hint === undefined ? "" : ` ${hint}`}`,
      headers: { allow },
    });
  };
}

const NO_SOCKETS =
  "WebSockets are not opened here. Send the request over HTTP, and stream answers as server-sent events.";
const UPGRADE_REMOVED =
  "A proxy before the gateway has removed the header Upgrade. Send the request over HTTP, or let the proxy pass upgrades on.";

/** Clients that try a WebSocket first switch to HTTP immediately after this status, and only after a pause after others. */
function rejectWebSocket(message: string): never {
  throw new GatewayError({
    code: "upgrade_required",
    message,
    // Required by RFC 9110, section 15.5.22.
    headers: { upgrade: "HTTP/1.1" },
  });
}
