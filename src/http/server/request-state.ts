import type { BunRequest, Server } from "bun";
import { Stopwatch } from "../../base/stopwatch.ts";
import type { InferencePrincipal } from "../../core/accounts/principal.ts";
import type { ConsoleSession } from "../../core/console/console-session.ts";
import type { ByteShare } from "../../core/limits/byte-budget.ts";
import type { RequestTrace } from "../../core/telemetry/request-trace.ts";
import type { ErrorRenderer, HttpDeps, RequestContext } from "../context/context.ts";
import { renderError } from "../errors/render-error.ts";

/** The idle timeout of a connection, during a request and between requests. Seconds. */
export const IDLE_S = 120;

/** What a request needs of the server that it arrived at. */
export type Connection = Pick<Server<undefined>, "requestIP" | "timeout">;

/** Where a request has arrived. */
interface Arrival {
  /** The dependencies of its handler. */
  readonly deps: HttpDeps;
  /** The path pattern of its route, without the gateway prefix. */
  readonly route: string;
  readonly server: Connection;
}

/** The state of one request, from its arrival on. A class, because an object with closures costs several times as much per request. */
export class RequestState implements RequestContext {
  readonly deps: HttpDeps;
  readonly route: string;
  readonly requestId: string;
  readonly startedAt: number;
  readonly stopwatch: Stopwatch;
  trace: RequestTrace | null = null;
  readonly logFields: Record<string, unknown> = {};
  inferencePrincipal: InferencePrincipal | null = null;
  session: ConsoleSession | null = null;
  renderError: ErrorRenderer = renderError;
  bodyShare: ByteShare | null = null;
  endsItself = false;
  takesForm = false;
  private readonly server: Connection;

  constructor(
    { deps, route, server }: Arrival,
    private readonly request: Request,
  ) {
    this.deps = deps;
    this.route = route;
    this.server = server;
    this.requestId = deps.ids.next("req");
    this.startedAt = deps.clock.now();
    this.stopwatch = new Stopwatch(deps.clock);
  }

  /** Read when it is needed: the runtime decodes the parameters at the first access. */
  get params(): Readonly<Record<string, string>> {
    return (this.request as Partial<BunRequest>).params ?? {};
  }

  peer(): string {
    return this.server.requestIP(this.request)?.address ?? "";
  }

  disableIdleTimeout(): void {
    this.server.timeout(this.request as BunRequest, 0);
  }

  enableIdleTimeout(): void {
    this.server.timeout(this.request as BunRequest, IDLE_S);
  }
}
