import type { Socket } from "bun";

/** A request as it was received. */
export interface RawRequest {
  /** The start line. */
  readonly line: string;
  /** Everything up to the empty line, latin-1. */
  readonly head: string;
  /** As many bytes as `content-length` says. */
  readonly body: Uint8Array;
}

/** The server's end of one connection, with which a handler can simulate any server, correct or broken. */
export interface RawConnection {
  /** Returns the next complete request, or `null` if the client closed before there was one. */
  request(): Promise<RawRequest | null>;
  /** Waits until any bytes have arrived. */
  readable(): Promise<void>;
  /** Sends bytes unchanged; resolves when the system has accepted all of them, or the connection is closed. */
  write(bytes: string | Uint8Array): Promise<void>;
  /** Ends the stream of bytes and closes. */
  end(): void;
  /** Ends the stream of bytes and continues to read. */
  halfClose(): void;
  /** Closes with a reset. */
  reset(): void;
  /** Stops reading, so that the client's bytes accumulate; `resume` undoes it. */
  pause(): void;
  resume(): void;
  /** Resolves when the connection is closed by either side. */
  readonly closed: Promise<void>;
  /** Bytes that the system has accepted. */
  readonly bytesSent: number;
}

export interface RawServer {
  readonly port: number;
  /** `http://` or `https://`, host and port. */
  readonly origin: string;
  /** All connections so far, in order. */
  readonly connections: readonly RawConnection[];
  /** Waits for the connection of that index. */
  connection(index: number): Promise<RawConnection>;
  /** Waits until the client has closed all connections. */
  allClosed(): Promise<void>;
  stop(): void;
}

export interface RawServerOptions {
  /** The host to listen on; 127.0.0.1 by default. */
  readonly hostname?: string;
  /** The host name in `origin`; the host to listen on by default. */
  readonly name?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** Starts a TCP (or TLS) server that runs `handler` for each connection. An error of the handler closes its connection. */
export function startRawServer(
  handler: (connection: RawConnection) => Promise<void> | void,
  { hostname = "127.0.0.1", name = hostname, tls }: RawServerOptions = {},
): RawServer {
  const connections: ServerConnection[] = [];
  let wakeAccepting = createSignal();
  const listener = Bun.listen<ServerConnection>({
    hostname,
    port: 0,
    allowHalfOpen: true,
    ...(tls !== undefined && { tls }),
    socket: {
      open(socket) {
        const connection = new ServerConnection(socket);
        socket.data = connection;
        connections.push(connection);
        wakeAccepting.fire();
        wakeAccepting = createSignal();
        Promise.resolve(handler(connection)).catch(() => connection.reset());
      },
      data: (socket, bytes) => socket.data.received(bytes),
      drain: (socket) => socket.data.drained(),
      end: (socket) => socket.data.ended(),
      close: (socket) => socket.data?.gone(),
      error: () => {},
    },
  });
  return {
    port: listener.port,
    origin: `${tls ? "https" : "http"}://${name.includes(":") ? `[${name}]` : name}:${listener.port}`,
    connections,
    async connection(index) {
      while (connections.length <= index) await wakeAccepting.fired;
      return connections[index]!;
    },
    async allClosed() {
      await Promise.all(connections.map((connection) => connection.closed));
    },
    stop: () => listener.stop(true),
  };
}

interface Signal {
  readonly fired: Promise<void>;
  fire(): void;
}

function createSignal(): Signal {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { fired: promise, fire: resolve };
}

class ServerConnection implements RawConnection {
  bytesSent = 0;
  private readonly socket: Socket<ServerConnection>;
  private readonly gate = createSignal();
  private change = createSignal();
  private writable = createSignal();
  private unread: Buffer = Buffer.alloc(0);
  private isOver = false;

  constructor(socket: Socket<ServerConnection>) {
    this.socket = socket;
  }

  get closed(): Promise<void> {
    return this.gate.fired;
  }

  async request(): Promise<RawRequest | null> {
    for (;;) {
      const request = this.takeRequest();
      if (request !== null || this.isOver) return request;
      await this.change.fired;
    }
  }

  async readable(): Promise<void> {
    while (this.unread.length === 0 && !this.isOver) await this.change.fired;
  }

  async write(data: string | Uint8Array): Promise<void> {
    let rest: Uint8Array = typeof data === "string" ? Buffer.from(data, "latin1") : data;
    while (rest.length > 0 && !this.isOver) {
      const sent = Math.max(0, this.socket.write(rest));
      this.bytesSent += sent;
      rest = rest.subarray(sent);
      if (rest.length > 0 && !this.isOver) await this.writable.fired;
    }
  }

  end(): void {
    this.socket.end();
  }

  halfClose(): void {
    this.socket.shutdown();
  }

  reset(): void {
    this.socket.terminate();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  received(bytes: Uint8Array): void {
    this.unread = Buffer.concat([this.unread, bytes]);
    this.tell();
  }

  drained(): void {
    this.writable.fire();
    this.writable = createSignal();
  }

  /** The client sends no more, which handlers treat as a close. */
  ended(): void {
    this.gone();
    this.socket.end();
  }

  gone(): void {
    this.isOver = true;
    this.tell();
    this.drained();
    this.gate.fire();
  }

  private tell(): void {
    this.change.fire();
    this.change = createSignal();
  }

  private takeRequest(): RawRequest | null {
    const headEnd = this.unread.indexOf("\r\n\r\n");
    if (headEnd < 0) return null;
    const head = this.unread.toString("latin1", 0, headEnd);
    const bodyAt = headEnd + 4;
    const bodyEnd = bodyAt + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (this.unread.length < bodyEnd) return null;
    const body = new Uint8Array(this.unread.subarray(bodyAt, bodyEnd));
    this.unread = this.unread.subarray(bodyEnd);
    return { line: head.split("\r\n", 1)[0]!, head, body };
  }
}
