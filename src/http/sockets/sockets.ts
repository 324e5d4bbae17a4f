import type { Server, ServerWebSocket, WebSocketHandler } from "bun";
import { LinkedSet } from "../../base/collections/linked-set.ts";
import { WaitList } from "../../base/collections/wait-list.ts";
import { fail, failureOf } from "../../base/failures/errors.ts";
import type { HttpDeps, RequestContext } from "../context/context.ts";
import { rendererOf } from "../errors/client-api-errors.ts";
import { describeAsked } from "../inference/asked-request.ts";
import { withLimitHeaders } from "../inference/inference-handler.ts";
import { admitCaller } from "../middleware/admit.ts";
import { requireOrigin } from "../middleware/cross-origin.ts";
import { ClientSocket } from "./client-socket.ts";
import { OpenSockets } from "./count-sockets.ts";
import { FrameRequests } from "./frame-request.ts";
import type { SocketRoute } from "./socket-route.ts";

/** How long a connection may be open: the limit of OpenAI's API and of the Open Responses specification. Milliseconds. */
const MAX_AGE_MS = 60 * 60 * 1_000;
/** How often each client is asked whether it is still there. Milliseconds; proxies close connections that are silent for a minute. */
const PING_MS = 30_000;

/** The part of a server that upgrades connections. */
export type Upgrading = Pick<Server<ClientSocket>, "upgrade" | "requestIP">;

/** The WebSockets of a server. */
export class Sockets {
  private readonly open = new LinkedSet<ClientSocket>();
  private readonly counted = new OpenSockets();
  private readonly ages: WaitList;
  private readonly pings: WaitList;

  constructor(private readonly deps: () => HttpDeps) {
    const { clock } = deps();
    this.ages = new WaitList(clock, MAX_AGE_MS);
    this.pings = new WaitList(clock, PING_MS);
  }

  /** What the runtime calls for its connections. */
  get handlers(): Pick<
    WebSocketHandler<ClientSocket>,
    "open" | "message" | "drain" | "pong" | "close" | "error"
  > {
    return {
      open: (socket) => this.begin(socket),
      message: ({ data }, message) => data.receive(message),
      drain: ({ data }) => data.onDrain(),
      pong: ({ data }) => data.onPong(),
      close: ({ data }, code) => {
        this.open.delete(data);
        data.onClosed(code);
      },
      error: (error, socket) => {
        this.deps().log.error("internal error", { detail: failureOf(error).internal });
        socket.terminate();
      },
    };
  }

  /**
   * Opens a WebSocket for a request, if its caller may call the operation.
   * @throws GatewayError `authentication`, `permission_denied`, `rate_limit_exceeded`, `invalid_request`, `unavailable`.
   */
  async accept(
    request: Request,
    context: RequestContext,
    { server, route }: { readonly server: Upgrading; readonly route: SocketRoute },
  ): Promise<void> {
    context.renderError = rendererOf(route.api);
    try {
      await this.upgrade(request, context, { server, route });
    } catch (error) {
      context.asked = describeAsked(route.api.name, null, null);
      context.deps.observers.requestObserver?.onRefused(failureOf(error));
      throw await withLimitHeaders(error, context);
    }
  }

  /** Closes all connections once their running requests have ended. */
  retire(): void {
    for (const client of this.open) client.retire("shutdown");
  }

  private async upgrade(
    request: Request,
    context: RequestContext,
    { server, route }: { readonly server: Upgrading; readonly route: SocketRoute },
  ): Promise<void> {
    const { deps, requestId } = context;
    requireOrigin(request, deps.clients.allowedOrigins, deps.browser.console?.publicUrl ?? null);
    const principal = await admitCaller(request, context, { kind: route.api.access });
    if (deps.shutdown.isDraining)
      fail("unavailable", "The gateway is stopping. Open the WebSocket again.", { retryAfterS: 1 });
    const leave = this.counted.enter(principal, deps.sockets);
    const client = new ClientSocket({
      deps: this.deps,
      route,
      requests: new FrameRequests(request),
      responses: deps.sockets.memory.open(),
      peer: server.requestIP(request),
      principal,
      requestId,
      leave,
    });
    if (server.upgrade(request, { data: client, headers: { "x-request-id": requestId } })) return;
    leave();
    fail("invalid_request", "This is no valid handshake of a WebSocket (RFC 6455, version 13).");
  }

  private begin(socket: ServerWebSocket<ClientSocket>): void {
    const { data: client } = socket;
    this.open.add(client);
    client.open(socket);
    client.age = this.ages.begin(retireOld, client);
    this.ping(client);
    if (this.deps().shutdown.isDraining) client.retire("shutdown");
  }

  private ping(client: ClientSocket): void {
    client.ping = this.pings.begin(() => {
      if (client.checkAlive()) this.ping(client);
    });
  }
}

function retireOld(client: ClientSocket): void {
  client.retire("age");
}
