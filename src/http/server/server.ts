import type { BunRequest, Server } from "bun";
import { type Failure, failureOf, GatewayError, statusOf } from "../../base/errors.ts";
import { StoreError } from "../../base/store-error.ts";
import type { Handler, HttpDeps, RequestContext } from "../context/context.ts";
import { writeRequestLog } from "../context/request-log.ts";
import { urlOf } from "../context/url-of.ts";
import { rendererFor } from "../errors/error-shape.ts";
import { renderError } from "../errors/render-error.ts";
import { FIXED_ROUTES, GATEWAY_ROUTES, PREFIXES } from "./route-table.ts";
import { boundSendBuffers } from "./send-buffers.ts";

type Methods = Readonly<Record<string, Handler>>;
type GatewayServer = Server<undefined>;

/** How long a connection may be silent while a request comes in or between requests. Seconds. */
const IDLE_S = 120;

/** Where to listen, and under which names besides the built-in ones. */
export interface ListenOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly extraPrefixes: readonly string[];
  /** What the system may buffer towards one client; 0: as it likes. */
  readonly sendBufferBytes: number;
}

/** A server that listens. */
export interface HttpServer {
  readonly port: number;
  /** Takes no new connections; resolves when the open requests have ended. */
  stop(): Promise<void>;
  /** Closes what is still open. */
  kill(): void;
}

/**
 * Starts to listen.
 * @throws Error when the address is taken or not ours.
 */
export function listen(deps: HttpDeps, options: ListenOptions): HttpServer {
  const { port, sendBufferBytes } = options;
  const { result: server, isBounded } =
    sendBufferBytes === 0
      ? { result: serveAll(deps, options), isBounded: true }
      : boundSendBuffers(sendBufferBytes, () => serveAll(deps, options));
  if (!isBounded) deps.log.debug("the system's send buffers are not bounded here");
  return {
    port: server.port ?? port,
    stop: () => server.stop(false),
    kill: () => void server.stop(true),
  };
}

function serveAll(deps: HttpDeps, { host, port, extraPrefixes }: ListenOptions): GatewayServer {
  return Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_S,
    // Bodies are bounded while they are read, with an answer that says so.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Off development, the runtime shares a port with whoever listens there already.
    reusePort: false,
    routes: buildRoutes(deps, extraPrefixes),
    fetch: (request, server) => serve(deps, "unknown", NOWHERE, request, server, {}),
  });
}

type RouteHandler = (request: BunRequest, server: GatewayServer) => Response | Promise<Response>;

function buildRoutes(deps: HttpDeps, extraPrefixes: readonly string[]): Record<string, RouteHandler> {
  const routes: Record<string, RouteHandler> = {};
  const add = (path: string, name: string, methods: Methods): void => {
    routes[path] = (request, server) =>
      serve(deps, name, methods, request, server, request.params as Record<string, string>);
  };
  for (const [path, methods] of Object.entries(FIXED_ROUTES)) add(path, path, methods);
  for (const prefix of [...PREFIXES, ...extraPrefixes]) {
    for (const [path, methods] of Object.entries(GATEWAY_ROUTES)) add(prefix + path, path, methods);
  }
  return routes;
}

const NOWHERE: Methods = {};

/** Clients of other gateways spell headers in that gateway's way. What is sent under its own name wins. */
function renameHeaders(headers: Headers, aliases: HttpDeps["headerAliases"]): void {
  for (const [from, to] of aliases) {
    const value = headers.get(from);
    if (value !== null && !headers.has(to)) headers.set(to, value);
  }
}

/** One request, from its id to its answer and its log line. `server` has its connection. */
export async function serve(
  deps: HttpDeps,
  route: string,
  methods: Methods,
  request: Request,
  server: Pick<GatewayServer, "requestIP" | "timeout">,
  params: Record<string, string>,
): Promise<Response> {
  const context: RequestContext = {
    deps,
    requestId: deps.ids.next("req"),
    startedAt: deps.clock.now(),
    route,
    params,
    peer: () => server.requestIP(request)?.address ?? "",
    logFields: {},
    inferencePrincipal: null,
    renderError,
    bodyShare: null,
    endsItself: false,
    waitWithoutLimit: () => server.timeout(request, 0),
    waitWithLimit: () => server.timeout(request, IDLE_S),
  };
  renameHeaders(request.headers, deps.headerAliases);
  let response: Response;
  try {
    requireOneHost(request.headers.get("host"));
    response = await findHandler(methods, request)(request, context);
    if (!context.endsItself) response.headers.set("x-request-id", context.requestId);
  } catch (error) {
    // No handler has said how the errors of its API look.
    if (context.renderError === renderError) context.renderError = rendererFor(urlOf(request).pathname);
    response = renderThrown(error, context);
  }
  if (!context.endsItself) {
    context.bodyShare?.giveBack();
    writeRequestLog(context, response.status);
  }
  // The runtime leaves the body of a HEAD out, and says its length.
  return response;
}

/** What no host has; a comma is where the runtime has joined two headers. */
const NO_HOST = /[\s,/?#@\\]/;

/** Proxies and this server might understand different hosts, and so different requests (RFC 9112, 3.2). */
function requireOneHost(host: string | null): void {
  if (host === null || !NO_HOST.test(host)) return;
  throw new GatewayError({
    code: "invalid_request",
    message: 'The request must have one "host" header with one host in it.',
    headers: { connection: "close" },
  });
}

function findHandler(methods: Methods, request: Request): Handler {
  const handler = methods[request.method] ?? (request.method === "HEAD" ? methods["GET"] : undefined);
  return handler ?? (methods === NOWHERE ? refuseUnknownPath : refuseMethod(methods));
}

function refuseUnknownPath(): never {
  throw new GatewayError({
    code: "not_found",
    message: "There is nothing at this address. Chat completions are at POST /api/gateway/chat/completions.",
  });
}

function refuseMethod(methods: Methods): Handler {
  const allowed = Object.keys(methods);
  if (allowed.includes("GET")) allowed.push("HEAD");
  const allow = allowed.join(", ");
  return () => {
    throw new GatewayError({ code: "method_not_allowed", message: `Use ${allow} here.`, headers: { allow } });
  };
}

function renderThrown(error: unknown, context: RequestContext): Response {
  const failure = failureOfThrown(error);
  context.logFields["error"] = failure.code;
  if (failure.internal !== undefined) context.logFields["detail"] = failure.internal;
  if (statusOf(failure) === 500)
    context.deps.log.error("internal error", { request_id: context.requestId, detail: failure.internal });
  return context.renderError(failure, { "x-request-id": context.requestId }, context.requestId);
}

const STORE_AWAY: Failure = {
  code: "unavailable",
  message: "The gateway cannot reach its own store at the moment. Repeat the request later.",
  retryAfterS: 5,
};

/** A store that is away is worth another try; everything else is as it says. */
function failureOfThrown(error: unknown): Failure {
  return error instanceof StoreError ? { ...STORE_AWAY, internal: error.message } : failureOf(error);
}
