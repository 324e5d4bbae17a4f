import type { SocketAddress } from "bun";
import type { ClientApiDeclaration } from "../../wire/client-apis/client-api.ts";
import type { SocketFormat } from "../../wire/client-apis/socket-format.ts";
import type { SocketTurn } from "../context/socket-turn.ts";

/** An operation that is also called over WebSockets. */
export interface SocketOperation {
  readonly api: ClientApiDeclaration;
  readonly format: SocketFormat;
}

/** The route of an operation, at which WebSockets are opened. */
export interface SocketRoute extends SocketOperation {
  /** Answers the request of a frame as if it had arrived over HTTP from that address. */
  readonly answer: (
    request: Request,
    turn: SocketTurn,
    peer: SocketAddress | null,
  ) => Response | Promise<Response>;
}
