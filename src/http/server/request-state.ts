import type { BunRequest, Server } from "bun";
import { detailOf, type Failure, failureOf, INTERNAL, statusOf } from "../../base/failures/errors.ts";
import type { Log } from "../../base/failures/log.ts";
import { Stopwatch } from "../../base/time/stopwatch.ts";
import type { InferencePrincipal } from "../../core/accounts/records/principal.ts";
import type { ConsoleSession } from "../../core/console/console-session.ts";
import type { ByteShare } from "../../core/limits/byte-budget.ts";
import type { RequestTrace } from "../../core/telemetry/request-trace.ts";
import { CLIENT_APIS } from "../../wire/client-apis/client-apis.ts";
import type {
  AllowedOrigins,
  AskedRequest,
  ErrorRenderer,
  HttpDeps,
  RequestContext,
} from "../context/context.ts";
import { writeRequestLog } from "../context/request-log.ts";
import type { SocketTurn } from "../context/socket-turn.ts";
import { urlOf } from "../context/url-of.ts";
import { rendererOf } from "../errors/client-api-errors.ts";
import { renderError } from "../errors/render-error.ts";
import { rendererOfUnserved } from "../errors/unserved-endpoints.ts";
import { allowOrigin } from "../middleware/cross-origin.ts";
import { recordRejection } from "../middleware/record-rejection.ts";

/** The idle timeout of a connection, during a request and between requests. Seconds. */
export const IDLE_S = 120;

/** What a request needs from the server that it arrived at. */
export type ClientConnection = Pick<Server<unknown>, "requestIP" | "timeout">;

/** The route of a request, with the dependencies for it. */
export interface ServedRoute {
  /** Returns the dependencies of a request that begins now. A request keeps the dependencies with which it began. */
  readonly deps: () => HttpDeps;
  /** The path pattern without the gateway prefix. */
  readonly route: string;
  /** Whether pages of allowed origins may call it. */
  readonly isOpen: boolean;
}

/** The state of one request, from its arrival on. A class, because an object with closures costs several times as much per request. */
export class RequestState implements RequestContext {
  readonly deps: HttpDeps;
  readonly route: string;
  readonly requestId: string;
  readonly startedAt: number;
  readonly stopwatch: Stopwatch;
  /** The origins whose pages may read the response. */
  readonly origins: AllowedOrigins;
  trace: RequestTrace | null = null;
  readonly logFields: Record<string, unknown> = {};
  inferencePrincipal: InferencePrincipal | null = null;
  asked: AskedRequest | null = null;
  session: ConsoleSession | null = null;
  renderError: ErrorRenderer = renderError;
  bodyShare: ByteShare | null = null;
  endsItself = false;
  takesForm = false;
  private hasEnded = false;
  /** Whether the idle timeout was disabled. A generation that ends soon does not need that. */
  private hasNoIdleTimeout = false;

  constructor(
    { deps: currentDeps, route, isOpen }: ServedRoute,
    private readonly request: Request,
    private readonly server: ClientConnection,
    readonly turn: SocketTurn | null = null,
  ) {
    const deps = currentDeps();
    this.deps = deps;
    this.route = route;
    this.origins = isOpen ? deps.clients.allowedOrigins : null;
    this.requestId = deps.ids.next("req");
    this.startedAt = deps.clock.now();
    this.stopwatch = new Stopwatch(deps.clock);
    if (turn !== null) this.logFields["transport"] = "websocket";
  }

  get headers(): Headers {
    return this.request.headers;
  }

  /** Read when it is needed: the runtime decodes the parameters at the first access. */
  get params(): Readonly<Record<string, string>> {
    return (this.request as Partial<BunRequest>).params ?? {};
  }

  get query(): URLSearchParams {
    return urlOf(this.request).searchParams;
  }

  peer(): string {
    return this.server.requestIP(this.request)?.address ?? "";
  }

  complete(response: Response): Response {
    if (!this.endsItself) this.end(response.status);
    if (this.origins !== null) allowOrigin(response, this.request, this.origins);
    const { shutdown } = this.deps;
    if (shutdown.isDraining) announceShutdown(response, shutdown);
    return response;
  }

  fail(error: unknown): Response {
    try {
      // The request did not reach a handler that sets the error format.
      if (this.renderError === renderError) this.renderError = rendererFor(urlOf(this.request).pathname);
      const failure = failureOf(error);
      recordRejection(this.request, this, failure);
      return this.complete(renderThrown(failure, this));
    } catch (cause) {
      return this.complete(renderUnexpected(this.deps.log, cause));
    }
  }

  /** Releases what the request holds, and writes its log line. Idempotent. */
  private end(status: number): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.bodyShare?.release();
    writeRequestLog(this, status);
  }

  disableIdleTimeout(): void {
    this.hasNoIdleTimeout = true;
    this.server.timeout(this.request as BunRequest, 0);
  }

  enableIdleTimeout(): void {
    if (!this.hasNoIdleTimeout) return;
    this.hasNoIdleTimeout = false;
    this.server.timeout(this.request as BunRequest, IDLE_S);
  }
}

/** Makes the runtime close the connection after the response, so that its client sends the next request elsewhere. */
function announceShutdown(response: Response, shutdown: HttpDeps["shutdown"]): void {
  shutdown.answered += 1;
  response.headers.set("connection", "close");
}

/** Returns the response to a request that failed unexpectedly, so that no other response can be made. */
export function renderUnexpected(log: Pick<Log, "error">, error: unknown): Response {
  log.error("internal error", { detail: detailOf(error) });
  return renderError({ code: "internal", message: INTERNAL }, {});
}

function renderThrown(failure: Failure, context: RequestContext): Response {
  context.logFields["error"] = failure.code;
  if (failure.internal !== undefined) context.logFields["detail"] = failure.internal;
  if (statusOf(failure) === 500)
    context.deps.log.error("internal error", { request_id: context.requestId, detail: failure.internal });
  return context.renderError(failure, { "x-request-id": context.requestId }, context.requestId);
}

/** The renderers of client APIs with an error format of their own, by path. */
const RENDERERS: ReadonlyMap<string, ErrorRenderer> = new Map(
  Object.values(CLIENT_APIS)
    .filter(({ encodeError }) => encodeError !== undefined)
    .flatMap((api) => api.operations.map(({ path }) => [path, rendererOf(api)])),
);

/** Matches a path with one of these paths as a part. */
const OF_API = new RegExp(`(${[...RENDERERS.keys()].join("|")})(?:/|$)`);

/**
 * Returns the error format for a path without a handler: an unknown path or a wrong method. Most clients can only read errors in the
 * format of their API.
 */
function rendererFor(pathname: string): ErrorRenderer {
  return RENDERERS.get(OF_API.exec(pathname)?.[1] ?? "") ?? rendererOfUnserved(pathname);
}
