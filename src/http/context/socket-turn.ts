import type { LocalResponses } from "../../core/response-objects/local-responses.ts";
import type { SocketFormat, SocketFrame } from "../../wire/client-apis/socket-format.ts";
import type { ItemBytes } from "../../wire/openai-responses/socket/join-connection.ts";

/** A request that arrived as a frame of a WebSocket, and what its handler learns of it for the connection. */
export class SocketTurn {
  /** The frame; null until the handler has read it. */
  frame: SocketFrame | null = null;
  /** All items that the request stands for: those that it continues and its own. Null until the handler has joined them. */
  conversation: ItemBytes | null = null;

  constructor(
    readonly format: SocketFormat,
    /** The last responses of the connection, which the request may continue. */
    readonly responses: LocalResponses,
  ) {}
}
