import { checkServerIdentity } from "node:tls";
import type { Socket, SocketHandler } from "bun";
import { isMetadataAddress } from "../../base/network/metadata-address.ts";
import { boundSocketBuffer } from "../../base/network/socket-buffers.ts";
import { type Bytes, ComposedBytes, copyBytes, piecesOf } from "../../base/text/composed-bytes.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { TransportError } from "../../core/deployments/transport.ts";
import type { Target } from "./target.ts";

/** Receives the events of a connection. No events follow `closed`, or a call of `drop` or `end`. */
export interface ConnectionUser {
  /** The connection can be written to. TLS, if used, is verified. */
  opened(connection: Connection): void;
  /** `bytes` may be kept and changed. */
  received(connection: Connection, bytes: Uint8Array): void;
  /** The connection is closed. `error` is null if the peer closed it cleanly. */
  closed(connection: Connection, error: TransportError | null): void;
}

interface ConnectOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Socket receive buffer in bytes; 0 for the default of the system. */
  readonly systemBufferBytes: number;
  /** Trusted root certificates; undefined for the system's. */
  readonly ca: readonly string[] | undefined;
}

/** Requests up to this size are copied into one buffer, so that they are sent with one system call. Bytes. */
const JOIN_BYTES = { any: 64 * 1024, inSmallPieces: 512 * 1024 } as const;

/**
 * Shared by all connections, because a write ends before the next one begins. The system provides memory only for the pages that requests
 * use.
 */
const joinBuffer = Buffer.allocUnsafeSlow(JOIN_BYTES.inSmallPieces);

/** The ALPN protocol list with the entry `http/1.1`, encoded. */
const ALPN_HTTP1 = "\x08http/1.1";

const sending: Connection[] = [];

/**
 * Writes the messages of all connections together, after the current task and all of its promise callbacks. Consecutive system calls find
 * their code in the caches, and an upstream on the same machine is woken only once.
 */
function sendTogether(connection: Connection): void {
  if (sending.length === 0) process.nextTick(sendAll);
  sending.push(connection);
}

function sendAll(): void {
  for (const connection of sending.splice(0)) {
    try {
      connection.sendMessage();
    } catch (error) {
      // The messages after it must still be sent.
      connection.acceptError(error as Error);
    }
  }
}

/** A socket, connecting or connected. */
export class Connection {
  readonly origin: string;
  user: ConnectionUser;
  /** When the pool received it, in milliseconds since the epoch. */
  idleSince = 0;
  /** The turn of the pool's counter from which the connection may be reused. */
  restedAtTurn = 0;
  /** Whether it has been used for an earlier exchange. */
  isReused = false;

  private state: "connecting" | "open" | "closed" = "connecting";
  private readonly target: Target;
  private readonly systemBufferBytes: number;
  private socket: Socket<Connection> | null = null;
  private timer: Timer | null = null;
  /** The head of a request that was not written yet; null if there is none. */
  private unsentHead: string | null = null;
  private unsentBody: Bytes | null = null;
  private unsent: Uint8Array[] = [];
  private isPaused = false;

  /** Begins to connect. Calls `opened` or `closed` of `user` later, never within the constructor. */
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

  /** Whether everything that was sent has been written to the socket. */
  get isFlushed(): boolean {
    return this.unsentHead === null && this.unsent.length === 0;
  }

  /**
   * Sends a head (latin-1) and a body as fast as the peer reads them, together with those of other connections (`sendTogether`). `body`
   * must not change until it is flushed.
   */
  send(head: string, body: Bytes | null): void {
    this.unsentHead = head;
    this.unsentBody = body;
    sendTogether(this);
  }

  /** Writes the message that waits to be sent. */
  sendMessage(): void {
    const { unsentHead: head, unsentBody: body } = this;
    if (head === null || this.state !== "open") return;
    this.dropMessage();
    if (
      head.length + (body?.length ?? 0) >
      (isInSmallPieces(body) ? JOIN_BYTES.inSmallPieces : JOIN_BYTES.any)
    ) {
      const pieces = body === null ? NO_PIECES : piecesOf(body);
      this.unsent.push(...joinSmall([Buffer.from(head, "latin1"), ...pieces]));
      this.flush();
      return;
    }
    const headBytes = joinBuffer.write(head, "latin1");
    const total = body === null ? headBytes : copyBytes(body, joinBuffer, headBytes);
    const sent = this.write(joinBuffer, 0, total);
    if (sent < total) this.unsent.push(Buffer.from(joinBuffer.subarray(sent, total)));
  }

  /** Stops reading from the peer until `resume`. One more read may occur. */
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

  /** Closes the connection during an exchange: the peer sees a reset. */
  drop(): void {
    if (this.state === "closed") return;
    const socket = this.leave();
    socket?.terminate();
  }

  /** Closes the connection between exchanges. */
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

  /** Called when the socket is connected, before a TLS handshake. */
  acceptSocket(socket: Socket<Connection>): void {
    if (this.state === "closed") {
      // Dropped while connecting, before there was a socket to close.
      socket.terminate();
      return;
    }
    this.socket = socket;
    // A name that was checked before may lead there by now.
    if (isMetadataAddress(socket.remoteAddress)) {
      this.fail(new TransportError("connect_failed", "the host is the metadata service of a cloud"));
      return;
    }
    if (this.systemBufferBytes > 0)
      boundSocketBuffer(descriptorOf(socket), "receive", this.systemBufferBytes);
    if (!this.target.isTls) this.open();
  }

  /**
   * Called when the handshake has succeeded or failed. The runtime verifies the certificate chain and reports it in `error`. The
   * host name is verified here again, because runtimes have had gaps there.
   */
  acceptHandshake(socket: Socket<Connection>, success: boolean, error: Error | null): void {
    if (this.state !== "connecting") return;
    const chainError = error ?? socket.getAuthorizationError();
    const verified = success && chainError === null && socket.authorized;
    const mismatch = verified
      ? checkServerIdentity(this.target.hostname, socket.getPeerCertificate())
      : undefined;
    if (verified && mismatch === undefined) this.open();
    else this.fail(new TransportError("tls_failed", (mismatch ?? chainError)?.message ?? "not verified"));
  }

  acceptData(bytes: Uint8Array): void {
    if (this.state === "open") this.user.received(this, bytes);
  }

  /** Called when the socket has failed. */
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

  /** Writes more of the unsent bytes. */
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

  /** Returns the number of bytes written. A closed socket takes none; its close event follows after the remaining reads. */
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
    this.dropMessage();
    this.unsent = [];
    const socket = this.socket;
    this.socket = null;
    return socket;
  }

  private dropMessage(): void {
    this.unsentHead = null;
    this.unsentBody = null;
  }

  private stopTimer(): void {
    this.timer?.cancel();
    this.timer = null;
  }
}

const NO_PIECES: readonly Uint8Array[] = [];
/** Smaller neighbors are joined, because writing each would cost more than copying it. Bytes. */
const SMALL_BYTES = 4 * 1024;

/** Whether the pieces of a body are so small on average that they must be joined, as in translated conversations. */
function isInSmallPieces(body: Bytes | null): boolean {
  return body instanceof ComposedBytes && body.meanPieceBytes < SMALL_BYTES;
}

/** Returns the same bytes in as few pieces as possible without copying a large one. */
function joinSmall(pieces: readonly Uint8Array[]): Uint8Array[] {
  const joined: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  const flush = () => {
    if (small.length > 0) joined.push(Buffer.concat(small));
    small = [];
  };
  for (const piece of pieces) {
    if (piece.length < SMALL_BYTES) {
      small.push(piece);
      continue;
    }
    flush();
    joined.push(piece);
  }
  flush();
  return joined;
}

/** Returns the file descriptor of a socket, which the runtime's types omit. */
function descriptorOf(socket: Socket<Connection>): number {
  return (socket as unknown as { readonly fd: number }).fd;
}

function describeConnectFailure(error: unknown): TransportError {
  const { code, message } = error as { code?: string; message?: string };
  return new TransportError("connect_failed", [message, code].filter(Boolean).join(": "));
}

/**
 * The handlers of all sockets; they call the connection. Each read has its own memory, so that its pieces may be kept without
 * a copy.
 */
const HANDLERS: SocketHandler<Connection> = {
  // Not `Buffer`, whose `slice` shares memory; that of a Uint8Array copies.
  binaryType: "uint8array",
  open: (socket) => socket.data.acceptSocket(socket),
  handshake: (socket, success, error) => socket.data.acceptHandshake(socket, success, error),
  data: (socket, bytes) => socket.data.acceptData(bytes),
  drain: (socket) => socket.data.flush(),
  error: (socket, error) => socket.data.acceptError(error),
  close: (socket, error) => socket.data.acceptClose(error),
  // The promise reports the error too; without a handler it would be reported as unhandled.
  connectError: () => {},
};
