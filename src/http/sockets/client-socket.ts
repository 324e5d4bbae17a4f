import type { ServerWebSocket } from "bun";
import { Linked } from "../../base/collections/linked-set.ts";
import type { Wait } from "../../base/collections/wait-list.ts";
import { type Failure, fail, failureOf } from "../../base/failures/errors.ts";
import type { InferencePrincipal } from "../../core/accounts/records/principal.ts";
import type { HttpDeps } from "../context/context.ts";
import { rejectSize } from "../middleware/read-body.ts";
import { type AnsweringParts, answerFrame } from "./answer-frame.ts";
import { encodeFailure } from "./encode-failure.ts";
import { FrameQueue } from "./frame-queue.ts";
import { SocketWriter } from "./socket-writer.ts";

/** The dependencies of a connection. */
export interface ClientSocketParts extends AnsweringParts {
  readonly deps: () => HttpDeps;
  /** Who has opened it. Each frame is checked again. */
  readonly principal: InferencePrincipal;
  /** The id of the request that opened it. */
  readonly requestId: string;
  /** Counts the connection no longer. */
  readonly leave: () => void;
}

/** Why a connection takes no more requests. */
type Retirement = "age" | "shutdown";

/** The close codes of RFC 6455 for a connection that has reached its greatest age, and for a gateway that stops. */
const CLOSE_CODES = { age: 1001, shutdown: 1012 } as const;
const CLOSE_REASONS = { age: "connection limit reached", shutdown: "service restart" } as const;

const STOPPING: Failure = {
  code: "unavailable",
  message:
    "The gateway is stopping. Open another WebSocket, and send the whole conversation with the request.",
  retryAfterS: 1,
};

/** A WebSocket of a client. It answers one frame after the other. */
export class ClientSocket extends Linked {
  /** What ends the connection at its greatest age, and what checks that the client is there. Set when it opens. */
  age: Wait | null = null;
  ping: Wait | null = null;
  readonly openedAt: number;
  private socket: ServerWebSocket<ClientSocket> | null = null;
  private writer: SocketWriter | null = null;
  private readonly waiting: FrameQueue;
  /** Tells the running request that the client has left; null if none runs. */
  private running: AbortController | null = null;
  private retirement: Retirement | null = null;
  /** Whether the client has sent something, or has answered a ping, since the last check. */
  private isAlive = true;

  constructor(private readonly parts: ClientSocketParts) {
    super();
    this.waiting = new FrameQueue(parts.deps, parts.principal);
    this.openedAt = parts.deps().clock.now();
  }

  open(socket: ServerWebSocket<ClientSocket>): void {
    this.socket = socket;
    this.writer = new SocketWriter(socket, this.parts);
  }

  /** Takes a frame. Errors of a frame that becomes no request are answered at once. */
  receive(message: string | Buffer): void {
    this.isAlive = true;
    this.parts.deps().sockets.counts.received += 1;
    try {
      this.take(message);
    } catch (error) {
      this.reject(failureOf(error));
    }
  }

  onPong(): void {
    this.isAlive = true;
  }

  onDrain(): void {
    this.isAlive = true;
    this.writer?.onDrain();
  }

  /**
   * Sends a ping. Returns false, and disconnects, if the last one was not answered. A client that does not read cannot answer; how long it
   * may do that is up to the writer.
   */
  checkAlive(): boolean {
    if (this.isAlive || this.writer?.room != null) {
      this.isAlive = false;
      this.socket?.ping();
      return true;
    }
    this.socket?.terminate();
    return false;
  }

  /** Takes no more requests, and closes once the running one has ended. */
  retire(why: Retirement): void {
    if (this.retirement !== null) return;
    this.retirement = why;
    for (let left = this.waiting.clear(); left > 0; left--) this.rejectRetired();
    if (this.running === null) this.close();
  }

  /** Releases what the connection holds, after it has ended. */
  onClosed(code: number): void {
    const { deps, leave, responses, requestId } = this.parts;
    this.age?.end();
    this.ping?.end();
    this.waiting.clear();
    this.running?.abort();
    this.writer?.onClosed();
    responses.close();
    leave();
    this.socket = null;
    const { clock, log } = deps();
    log.debug("websocket closed", { request_id: requestId, code, duration_ms: clock.now() - this.openedAt });
  }

  private take(message: string | Buffer): void {
    const { route, deps } = this.parts;
    if (typeof message !== "string")
      fail("invalid_request", "Binary frames are not supported. Send JSON as text.");
    if (route.format.isAcknowledgement(message)) return;
    if (this.retirement !== null) {
      this.rejectRetired();
      return;
    }
    const frame = Buffer.from(message);
    const { maxBodyBytes } = deps().bodies;
    if (frame.length > maxBodyBytes) rejectSize(maxBodyBytes);
    if (this.running === null) void this.answerAll(frame);
    else this.waiting.add(frame);
  }

  /** Answers a frame, and those that arrive meanwhile. */
  private async answerAll(first: Buffer): Promise<void> {
    for (let frame: Buffer | null = first; frame !== null; frame = this.waiting.next()) {
      this.running = new AbortController();
      await this.answer(frame, this.running.signal);
    }
    this.running = null;
    if (this.retirement !== null) this.close();
  }

  private async answer(frame: Buffer, signal: AbortSignal): Promise<void> {
    const { writer, parts } = this;
    if (writer === null || this.socket === null) return;
    try {
      await answerFrame(parts, { frame, signal }, writer);
    } catch (error) {
      // A client that does not read was disconnected already.
      if (!signal.aborted)
        parts
          .deps()
          .log.warn("a WebSocket is closed, because an answer has broken off", { detail: String(error) });
      this.socket?.terminate();
    }
  }

  private reject(failure: Failure): void {
    const { route, deps } = this.parts;
    deps().observers.requestObserver?.onRefused(failure);
    this.writer?.send(encodeFailure(route, failure));
  }

  /** Answers a frame that arrives too late. */
  private rejectRetired(): void {
    if (this.retirement === "age") this.writer?.send(this.parts.route.format.connectionLimit);
    else this.reject(STOPPING);
  }

  private close(): void {
    const { retirement, socket } = this;
    if (retirement === null || socket === null) return;
    if (retirement === "age") this.rejectRetired();
    socket.close(CLOSE_CODES[retirement], CLOSE_REASONS[retirement]);
  }
}
