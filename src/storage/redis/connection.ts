import { checkServerIdentity } from "node:tls";
import type { Socket } from "bun";
import { StoreError } from "../../base/failures/store-error.ts";
import { formatHost, type RedisAddress, type RedisHost } from "./address.ts";
import { encodeCommand, ProtocolError, type RedisReply, ReplyError, ReplyReader } from "./resp.ts";

/** Settings of a connection. */
interface ConnectionOptions {
  readonly address: RedisAddress;
  /** The server of the address to connect to. */
  readonly host: RedisHost;
  /** Called once when the connection has ended for another reason than `close`. */
  readonly onLost: (reason: StoreError) => void;
  /** Called with messages of channels, once `SUBSCRIBE` was answered. */
  readonly onMessage?: (message: string) => void;
}

/** The number of bytes waiting to be sent at which a server that reads nothing is given up. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;

interface Waiting {
  readonly resolve: (reply: RedisReply) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One connection to a server. It is used only until the first error, which ends it with a reason; its owner then opens another one.
 * Commands are answered in their order, and are never sent twice.
 */
export class RedisConnection {
  /** Resolves when the server has accepted user and database. Rejects with a `StoreError` that says why it cannot be used. */
  readonly ready: Promise<void>;
  private socket: Socket<RedisConnection> | null = null;
  private readonly reader = new ReplyReader();
  /** The commands that were sent, the oldest at `firstWaiting`. */
  private waiting: Waiting[] = [];
  private firstWaiting = 0;
  /** The data of this turn of the event loop, which is written together. */
  private unsent = "";
  /** The data that the socket has not accepted yet. */
  private unwritten: Buffer | null = null;
  private ended: StoreError | null = null;
  private hasAnswered = false;
  private readonly opened = Promise.withResolvers<void>();

  constructor(private readonly options: ConnectionOptions) {
    this.ready = this.open();
    // Owners may look at it later.
    this.ready.catch(() => {});
  }

  /** Sends a command. Rejects with a `StoreError`, whose cause is a `ReplyError` if the server rejected the command. */
  send(parts: readonly string[]): Promise<RedisReply> {
    if (this.ended !== null) return Promise.reject(this.ended);
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      if (this.unsent === "") queueMicrotask(() => this.flush());
      this.unsent += encodeCommand(parts);
    });
  }

  /** Ends the connection. Commands in progress fail. */
  close(reason = new StoreError("the connection to Redis was closed")): void {
    if (this.ended !== null) return;
    this.ended = reason;
    this.opened.reject(reason);
    this.socket?.terminate();
    this.socket = null;
    const { waiting, firstWaiting } = this;
    this.waiting = [];
    for (let at = firstWaiting; at < waiting.length; at++) waiting[at]?.reject(reason);
  }

  /** Whether no command waits for an answer. */
  get isIdle(): boolean {
    return this.firstWaiting === this.waiting.length;
  }

  /** Returns the likely cause if a server ended the connection before it answered anything. */
  describeStart(): string {
    if (this.hasAnswered) return "";
    return this.options.address.isTls
      ? ": use redis:// if it has no TLS"
      : ": use rediss:// if it speaks TLS";
  }

  /** Names the server in messages. */
  get name(): string {
    return formatHost(this.options.host);
  }

  private async open(): Promise<void> {
    this.connect().catch((error) => this.lose(describeConnectError(error, this.name)));
    await this.opened.promise;
    const { user, password, database } = this.options.address;
    try {
      if (password !== null) await this.send(user === null ? ["AUTH", password] : ["AUTH", user, password]);
      if (database !== 0) await this.send(["SELECT", String(database)]);
    } catch (error) {
      this.lose(error as StoreError);
      throw error;
    }
  }

  private async connect(): Promise<void> {
    const { host, address } = this.options;
    const common = { data: this, socket: HANDLERS };
    if (host.path !== null) {
      await Bun.connect<RedisConnection>({ ...common, unix: host.path });
      return;
    }
    await Bun.connect<RedisConnection>({
      ...common,
      hostname: host.host,
      port: host.port,
      ...(address.isTls && { tls: { serverName: host.host, rejectUnauthorized: true } }),
    });
  }

  /** Called when the socket is connected, before a TLS handshake. */
  acceptSocket(socket: Socket<RedisConnection>): void {
    if (this.ended !== null) {
      // Closed while connecting, before there was a socket to close.
      socket.terminate();
      return;
    }
    this.socket = socket;
    socket.setNoDelay(true);
    if (!this.options.address.isTls) this.opened.resolve();
  }

  /** Called when the TLS handshake has succeeded or failed. */
  acceptHandshake(socket: Socket<RedisConnection>, success: boolean, error: Error | null): void {
    const { host } = this.options.host;
    const problem =
      error ??
      socket.getAuthorizationError() ??
      (success && host !== null ? (checkServerIdentity(host, socket.getPeerCertificate()) ?? null) : null);
    if (success && problem === null) this.opened.resolve();
    else this.lose(new StoreError(describeTlsError(problem, this.name)));
  }

  receive(piece: Buffer): void {
    // The runtime may use the memory of the piece again.
    this.reader.push(Buffer.from(piece));
    try {
      for (let reply = this.reader.next(); reply !== undefined; reply = this.reader.next())
        this.accept(reply);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.lose(new StoreError(`${this.name}: ${error.message}`));
    }
  }

  private accept(reply: RedisReply): void {
    this.hasAnswered = true;
    if (this.isIdle) {
      if (this.options.onMessage === undefined)
        throw new ProtocolError("it answered something that was not asked for");
      if (Array.isArray(reply) && reply[0] === "message") this.options.onMessage(String(reply[2]));
      return;
    }
    const { resolve, reject } = this.waiting[this.firstWaiting] as Waiting;
    this.firstWaiting += 1;
    if (this.firstWaiting === this.waiting.length) {
      this.waiting = [];
      this.firstWaiting = 0;
    } else if (this.firstWaiting >= 1_024) {
      this.waiting.splice(0, this.firstWaiting);
      this.firstWaiting = 0;
    }
    if (reply instanceof ReplyError) reject(new StoreError(reply));
    else resolve(reply);
  }

  private flush(): void {
    const { unsent, socket } = this;
    this.unsent = "";
    if (socket === null || unsent === "") return;
    const bytes = Buffer.from(unsent);
    if (this.unwritten !== null) this.unwritten = Buffer.concat([this.unwritten, bytes]);
    else this.write(socket, bytes);
    if ((this.unwritten?.length ?? 0) > MAX_UNSENT_BYTES)
      this.lose(new StoreError(`${this.name} reads nothing`));
  }

  /** Called when the socket accepts more data. */
  drain(socket: Socket<RedisConnection>): void {
    const { unwritten } = this;
    this.unwritten = null;
    if (unwritten !== null) this.write(socket, unwritten);
  }

  private write(socket: Socket<RedisConnection>, bytes: Buffer): void {
    const written = Math.max(0, socket.write(bytes));
    if (written < bytes.length) this.unwritten = bytes.subarray(written);
  }

  /** Ends the connection and reports the reason to its owner. */
  lose(reason: StoreError): void {
    if (this.ended !== null) return;
    this.close(reason);
    this.options.onLost(reason);
  }
}

/** Common to all connections, so that the runtime needs no functions for each. */
const HANDLERS = {
  open: (socket: Socket<RedisConnection>) => socket.data.acceptSocket(socket),
  handshake: (socket: Socket<RedisConnection>, success: boolean, error: Error | null) =>
    socket.data.acceptHandshake(socket, success, error),
  data: (socket: Socket<RedisConnection>, piece: Buffer) => socket.data.receive(piece),
  drain: (socket: Socket<RedisConnection>) => socket.data.drain(socket),
  // A server that has closed its side sends no more answers.
  end: (socket: Socket<RedisConnection>) => socket.data.lose(closedBy(socket)),
  close: (socket: Socket<RedisConnection>) => socket.data.lose(closedBy(socket)),
  error: (socket: Socket<RedisConnection>, error: Error) =>
    socket.data.lose(new StoreError(`the connection to ${socket.data.name} failed: ${error.message}`)),
  connectError: (socket: Socket<RedisConnection>, error: Error) =>
    socket.data?.lose(describeConnectError(error, socket.data.name)),
};

function closedBy({ data }: Socket<RedisConnection>): StoreError {
  return new StoreError(`${data.name} closed the connection${data.describeStart()}`);
}

const CONNECT_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "its name is unknown",
  ENOENT: "the socket does not exist",
  EACCES: "access to it is denied",
};

function describeConnectError(error: unknown, name: string): StoreError {
  const { code, message } = error as { code?: string; message?: string };
  return new StoreError(
    `${name} cannot be reached: ${CONNECT_ERRORS[code ?? ""] ?? message ?? String(error)}`,
  );
}

const CA_CODES =
  /SELF_SIGNED|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY|CERT_UNTRUSTED|DEPTH_ZERO|unable to (get|verify)|self.signed/i;

/** Describes what failed in a TLS handshake, and what to do about it. */
function describeTlsError(error: Error | null, name: string): string {
  const { code = "", message = "it was cut off" } = (error ?? {}) as { code?: string; message?: string };
  const remedy = CA_CODES.test(`${code} ${message}`)
    ? "Name the file of its authority in NODE_EXTRA_CA_CERTS"
    : /ALTNAME|altnames/i.test(`${code} ${message}`)
      ? "Use a host in redis.url that its certificate names"
      : /EXPIRED|expired|NOT_YET_VALID/i.test(`${code} ${message}`)
        ? "Renew its certificate, or set the clock of this machine"
        : "Use redis:// if the server has no TLS";
  return `the TLS handshake with ${name} failed: ${message}. ${remedy}`;
}
