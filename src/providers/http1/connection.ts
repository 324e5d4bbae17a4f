import { checkServerIdentity } from "node:tls";
import type { Socket, SocketHandler } from "bun";
import type { Clock, Timer } from "../../base/clock.ts";
import { boundSocketBuffer } from "../../base/socket-buffers.ts";
import { TransportError } from "../../core/deployments/transport.ts";
import type { Target } from "./target.ts";

/** What a connection tells whoever uses it. Nothing is told after `closed`, nor after the user's own `drop`. */
export interface ConnectionUser {
  /** It may be written to; TLS, if any, is verified. */
  opened(connection: Connection): void;
  /** `bytes` are the user's to keep and to change. */
  received(connection: Connection, bytes: Uint8Array): void;
  /** It is gone. `error` is null when the peer closed cleanly. */
  closed(connection: Connection, error: TransportError | null): void;
}

export interface ConnectOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** What the system buffers of what the peer sends; 0: as it likes. */
  readonly systemBufferBytes: number;
  /** Roots to trust; undefined for the machine's own. */
  readonly ca: readonly string[] | undefined;
}

/** Up to this size head and body are copied together, so that a request is one system call. */
const JOIN_BYTES = 64 * 1024;

/** For joining only: a write is over before the next begins, so that one serves all connections. */
const joinBuffer = Buffer.allocUnsafeSlow(JOIN_BYTES);

/** ALPN's list with the one entry `http/1.1`, in its wire form. */
const ALPN_HTTP1 = "\x08http/1.1";

/** One socket, from the first attempt to reach its peer on. */
export class Connection {
  readonly origin: string;
  user: ConnectionUser;
  /** When it was last put aside, by the pool's clock. */
  idleSince = 0;
  /** The pool's turn from which on it may be used again. */
  restedAtTurn = 0;
  /** It has carried an exchange before. */
  isReused = false;

  private state: "connecting" | "open" | "closed" = "connecting";
  private readonly target: Target;
  private readonly systemBufferBytes: number;
  private socket: Socket<Connection> | null = null;
  private timer: Timer | null = null;
  private unsent: Uint8Array[] = [];
  private isPaused = false;

  /** Begins to connect. `user` hears `opened` or `closed`, never before this has returned. */
  constructor(target: Target, options: ConnectOptions, user: ConnectionUser) {
    this.origin = target.origin;
    this.target = target;
    this.systemBufferBytes = options.systemBufferBytes;
    this.user = user;
    this.timer = options.clock.after(options.timeoutMs, () => {
      this.fail(new TransportError("connect_timeout", `no connection within ${options.timeoutMs} ms`));
    });
    this.connect(options).catch((error) => this.fail(describeConnectFailure(error)));
  }

  /** Nothing of what was sent is still waiting. */
  get isFlushed(): boolean {
    return this.unsent.length === 0;
  }

  /** Sends a head (latin-1) and a body, as fast as the peer takes them. `body` must not change until flushed. */
  send(head: string, body: Uint8Array | null): void {
    const bodyBytes = body?.length ?? 0;
    if (head.length + bodyBytes <= JOIN_BYTES) {
      joinBuffer.write(head, "latin1");
      if (body !== null) joinBuffer.set(body, head.length);
      const total = head.length + bodyBytes;
      const sent = this.write(joinBuffer, 0, total);
      if (sent < total) this.unsent.push(Buffer.from(joinBuffer.subarray(sent, total)));
      return;
    }
    this.unsent.push(Buffer.from(head, "latin1"));
    if (body !== null) this.unsent.push(body);
    this.flush();
  }

  /** Reads no more from the peer, until `resume`. One read may still come. */
  pause(): void {
    if (this.isPaused || this.socket === null) return;
    this.isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    if (!this.isPaused || this.socket === null) return;
    this.isPaused = false;
    this.socket.resume();
  }

  /** Ends it in the middle of things: the peer sees a reset. */
  drop(): void {
    if (this.state === "closed") return;
    const socket = this.leave();
    socket?.terminate();
  }

  /** Ends it between exchanges. */
  end(): void {
    if (this.state === "closed") return;
    const socket = this.leave();
    socket?.end();
  }

  private async connect(options: ConnectOptions): Promise<void> {
    const { hostname, port, isTls, serverName } = this.target;
    const { ca } = options;
    await Bun.connect<Connection>({
      hostname,
      port,
      data: this,
      socket: HANDLERS,
      ...(isTls && {
        tls: {
          serverName,
          rejectUnauthorized: true,
          ALPNProtocols: ALPN_HTTP1,
          ...(ca !== undefined && { ca: [...ca] }),
        },
      }),
    });
  }

  /** The socket is there; with TLS the handshake is still to come. */
  acceptSocket(socket: Socket<Connection>): void {
    if (this.state === "closed") {
      // Given up while connecting, when there was no socket yet to close.
      socket.terminate();
      return;
    }
    this.socket = socket;
    if (this.systemBufferBytes > 0)
      boundSocketBuffer(descriptorOf(socket), "receive", this.systemBufferBytes);
    if (!this.target.isTls) this.open();
  }

  /**
   * The handshake is done, well or not. The verdict on the chain is the runtime's, as `error`; whether the
   * certificate is this host's is asked here once more, because runtimes have been lax about it.
   */
  acceptHandshake(socket: Socket<Connection>, success: boolean, error: Error | null): void {
    if (this.state !== "connecting") return;
    const refusal = error ?? socket.getAuthorizationError();
    const verified = success && refusal === null && socket.authorized;
    const mismatch = verified
      ? checkServerIdentity(this.target.hostname, socket.getPeerCertificate())
      : undefined;
    if (verified && mismatch === undefined) this.open();
    else this.fail(new TransportError("tls_failed", (mismatch ?? refusal)?.message ?? "not verified"));
  }

  acceptData(bytes: Uint8Array): void {
    if (this.state === "open") this.user.received(this, bytes);
  }

  /** Something broke; the socket closes next, or is closed here. */
  acceptError(error: Error): void {
    this.fail(new TransportError("reset", error.message));
  }

  acceptClose(error: Error | undefined): void {
    if (this.state === "closed") return;
    if (this.state === "connecting") {
      const why = error?.message ?? "the peer closed during the handshake";
      this.fail(new TransportError("tls_failed", why));
      return;
    }
    this.leave();
    this.user.closed(this, error === undefined ? null : new TransportError("reset", error.message));
  }

  /** Goes on with what the peer did not take at once. */
  flush(): void {
    while (this.state === "open" && this.unsent.length > 0) {
      const next = this.unsent[0]!;
      const sent = this.write(next, 0, next.length);
      if (sent < next.length) {
        this.unsent[0] = next.subarray(sent);
        return;
      }
      this.unsent.shift();
    }
  }

  /** A closed socket takes nothing; its close is on the way, and behind what may still be read. */
  private write(bytes: Uint8Array, from: number, length: number): number {
    return Math.max(0, this.socket!.write(bytes, from, length));
  }

  private open(): void {
    this.state = "open";
    this.stopTimer();
    this.user.opened(this);
  }

  private fail(error: TransportError): void {
    if (this.state === "closed") return;
    const socket = this.leave();
    socket?.terminate();
    this.user.closed(this, error);
  }

  private leave(): Socket<Connection> | null {
    this.state = "closed";
    this.stopTimer();
    this.unsent = [];
    const socket = this.socket;
    this.socket = null;
    return socket;
  }

  private stopTimer(): void {
    this.timer?.cancel();
    this.timer = null;
  }
}

/** The runtime's types leave it out. */
function descriptorOf(socket: Socket<Connection>): number {
  return (socket as unknown as { readonly fd: number }).fd;
}

function describeConnectFailure(error: unknown): TransportError {
  const { code, message } = error as { code?: string; message?: string };
  return new TransportError("connect_failed", [message, code].filter(Boolean).join(": "));
}

/**
 * One set for all sockets: what they do is the connection's. Each read comes in memory of its own, so that its
 * pieces may be kept without a copy.
 */
const HANDLERS: SocketHandler<Connection> = {
  // Not `Buffer`, whose `slice` shares memory where a Uint8Array's does not.
  binaryType: "uint8array",
  open: (socket) => socket.data.acceptSocket(socket),
  handshake: (socket, success, error) => socket.data.acceptHandshake(socket, success, error),
  data: (socket, bytes) => socket.data.acceptData(bytes),
  drain: (socket) => socket.data.flush(),
  error: (socket, error) => socket.data.acceptError(error),
  close: (socket, error) => socket.data.acceptClose(error),
  // The promise says it too; without this it would also be reported as unhandled.
  connectError: () => {},
};
