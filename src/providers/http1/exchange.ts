import type { Clock } from "../../base/clock.ts";
import {
  type Exchange,
  TransportError,
  type UpstreamRequest,
  type UpstreamResponse,
} from "../../core/deployments/transport.ts";
import { decodeResponse } from "../content-encoding/decode-response.ts";
import { Answer, type Feeder } from "./answer.ts";
import type { Http1Bounds } from "./bounds.ts";
import { Connection, type ConnectionUser } from "./connection.ts";
import type { Pool } from "./pool.ts";
import { serializeRequestHead } from "./request-head.ts";
import { ResponseParser } from "./response-parser.ts";
import type { Target } from "./target.ts";

/** What the exchanges of one transport share. */
export interface ExchangeContext {
  readonly clock: Clock;
  readonly bounds: Http1Bounds;
  readonly pool: Pool;
  readTarget(url: URL): Target;
  /** Roots to trust; undefined for the machine's own. */
  readonly ca: readonly string[] | undefined;
}

/** Begins an exchange: on a connection that waits, else on one of its own. */
export function startExchange(context: ExchangeContext, request: UpstreamRequest): Exchange {
  const exchange = new Http1Exchange(context, request);
  exchange.start();
  return exchange;
}

/** How soon after a request a reused connection closes if the server had given it up before. Milliseconds. */
const RACE_MS = 1_000;

/** One request and its answer. It holds a connection from `start` until the answer has come or failed. */
class Http1Exchange implements Exchange, ConnectionUser, Feeder {
  readonly response: Promise<UpstreamResponse>;

  private readonly context: ExchangeContext;
  private readonly request: UpstreamRequest;
  private readonly parser: ResponseParser;
  private resolve!: (response: UpstreamResponse) => void;
  private reject!: (error: TransportError) => void;
  private target: Target | null = null;
  private head = "";
  private connection: Connection | null = null;
  private answer: Answer | null = null;
  private hasReceived = false;
  /** The answer began before the request was sent whole. */
  private isEarly = false;
  private sentAt = 0;
  private isCancelled = false;

  constructor(context: ExchangeContext, request: UpstreamRequest) {
    this.context = context;
    this.request = request;
    this.parser = new ResponseParser(request.method, context.bounds);
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  start(): void {
    try {
      this.target = this.context.readTarget(this.request.url);
      this.head = serializeRequestHead(this.request, this.target);
    } catch (error) {
      this.fail(error as TransportError);
      return;
    }
    const waiting = this.context.pool.take(this.target.origin);
    if (waiting === null) {
      this.connect(this.target);
      return;
    }
    waiting.user = this;
    this.connection = waiting;
    this.opened(waiting);
  }

  cancel(): void {
    if (this.isCancelled) return;
    this.isCancelled = true;
    this.connection?.drop();
    this.connection = null;
    const error = new TransportError("cancelled", "given up by the caller");
    if (this.answer === null) this.fail(error);
    else this.answer.discard(error);
  }

  opened(connection: Connection): void {
    this.sentAt = this.context.clock.now();
    connection.send(this.head, this.request.body);
  }

  received(connection: Connection, bytes: Uint8Array): void {
    if (!this.hasReceived && !connection.isFlushed) {
      if (connection.isReused) {
        this.startOver(connection);
        return;
      }
      this.isEarly = true;
    }
    this.hasReceived = true;
    const parsed = this.parser.feed(bytes);
    if (parsed.head !== null) {
      this.answer = new Answer(parsed.head, this, this.context.bounds);
      this.resolve(decodeResponse(this.answer));
    }
    if (parsed.body !== null) this.answer!.push(parsed.body);
    if (parsed.error !== null) this.refuse(connection, parsed.error);
    else if (parsed.ended) this.finish(connection, this.answer!, parsed.surplus);
  }

  closed(connection: Connection, error: TransportError | null): void {
    this.connection = null;
    // The server gave the connection up while it waited: the usual race of keep-alive, told by not one byte
    // having come. On a fresh connection the same would mean that the server refuses this request.
    // The race shows itself at once; a server that closes later has had the request, and may have worked on it.
    const isRace =
      connection.isReused && !this.hasReceived && this.context.clock.now() - this.sentAt < RACE_MS;
    if (isRace) this.connect(this.target!);
    else if (this.answer === null)
      this.fail(error ?? new TransportError("reset", "closed before the answer"));
    else this.endBody(this.answer, error);
  }

  hold(): void {
    this.connection?.pause();
  }

  release(): void {
    this.connection?.resume();
  }

  private connect(target: Target): void {
    const { clock, ca, bounds } = this.context;
    const { systemBufferBytes } = bounds;
    const timeoutMs = this.request.connectTimeoutMs;
    this.connection = new Connection(target, { clock, ca, timeoutMs, systemBufferBytes }, this);
  }

  /**
   * Sends the request again on a fresh connection. This one was used before and speaks while the request is still being
   * sent, so that the bytes may belong to the exchange before. The server cannot have worked on half a request.
   */
  private startOver(connection: Connection): void {
    connection.drop();
    this.connect(this.target!);
  }

  private finish(connection: Connection, answer: Answer, surplus: boolean): void {
    this.connection = null;
    if (surplus) this.context.pool.distrust(connection.origin);
    // A server that answers early may read the rest of the request as the next one, and answer that too.
    if (surplus || this.isEarly || !connection.isFlushed || !answer.keepAlive) {
      connection.end();
    } else {
      connection.resume();
      this.context.pool.put(connection);
    }
    answer.end();
  }

  private refuse(connection: Connection, why: string): void {
    this.connection = null;
    connection.drop();
    const error = new TransportError("protocol", why);
    if (this.answer === null) this.fail(error);
    else this.answer.fail(error);
  }

  /** The connection closed within the body: for one that has no other end, cleanly is whole. */
  private endBody(answer: Answer, error: TransportError | null): void {
    if (error === null && this.parser.finish() === "ended") answer.end();
    else answer.fail(new TransportError("truncated", error?.message ?? "closed before the body's end"));
  }

  private fail(error: TransportError): void {
    // A caller that cancels need not listen any more.
    this.response.catch(() => {});
    this.reject(error);
  }
}
