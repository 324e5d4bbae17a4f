import type { Clock } from "../../base/time/clock.ts";
import {
  type Exchange,
  TransportError,
  type UpstreamRequest,
  type UpstreamResponse,
} from "../../core/deployments/transport.ts";
import { decodeResponse } from "../content-encoding/decode-response.ts";
import { type BodySource, HttpAnswer } from "./answer.ts";
import type { Http1Bounds } from "./bounds.ts";
import { Connection, type ConnectionUser } from "./connection.ts";
import type { Pool } from "./pool.ts";
import { serializeRequestHead } from "./request-head.ts";
import type { ResponseHead } from "./response-head.ts";
import { ResponseParser } from "./response-parser.ts";
import type { Target } from "./target.ts";

/** The shared parts of a transport's exchanges. */
interface ExchangeContext {
  readonly clock: Clock;
  readonly bounds: Http1Bounds;
  readonly pool: Pool;
  readTarget(url: URL): Target;
  /** Trusted root certificates; undefined for those of the system. */
  readonly ca: readonly string[] | undefined;
}

/** Begins an exchange on an idle connection, or on a new one. */
export function startExchange(context: ExchangeContext, request: UpstreamRequest): Exchange {
  const exchange = new Http1Exchange(context, request);
  exchange.start(request);
  return exchange;
}

/** A reused connection that closes within this time after a request was already being closed by the server. Milliseconds. */
const RACE_MS = 1_000;

/** One request and its answer. It has a connection from `start` until the answer is complete or has failed. */
class Http1Exchange implements Exchange, ConnectionUser, BodySource {
  readonly response: Promise<UpstreamResponse>;

  private readonly context: ExchangeContext;
  private readonly connectTimeoutMs: number;
  /** Null once the answer has begun, so that its memory is free for others during an answer of minutes. */
  private body: UpstreamRequest["body"];
  private readonly parser: ResponseParser;
  private readonly resolve: (response: UpstreamResponse) => void;
  private readonly reject: (error: TransportError) => void;
  private target: Target | null = null;
  private head = "";
  private connection: Connection | null = null;
  private answer: HttpAnswer | null = null;
  private hasReceived = false;
  /** Whether the answer began before the whole request was sent. */
  private isEarly = false;
  private sentAt = 0;
  private isCancelled = false;

  constructor(context: ExchangeContext, request: UpstreamRequest) {
    this.context = context;
    this.connectTimeoutMs = request.connectTimeoutMs;
    this.body = request.body;
    this.parser = new ResponseParser(request.method, context.bounds);
    const { promise, resolve, reject } = Promise.withResolvers<UpstreamResponse>();
    this.response = promise;
    this.resolve = resolve;
    this.reject = reject;
  }

  start(request: UpstreamRequest): void {
    try {
      this.target = this.context.readTarget(request.url);
      this.head = serializeRequestHead(request, this.target);
    } catch (error) {
      this.fail(error as TransportError);
      return;
    }
    const idle = this.context.pool.take(this.target.origin);
    if (idle === null) {
      this.connect(this.target);
      return;
    }
    idle.user = this;
    this.connection = idle;
    this.opened(idle);
  }

  cancel(): void {
    if (this.isCancelled) return;
    this.isCancelled = true;
    this.connection?.drop();
    this.connection = null;
    const error = new TransportError("cancelled", "cancelled by the caller");
    if (this.answer === null) this.fail(error);
    else this.answer.discard(error);
  }

  opened(connection: Connection): void {
    this.sentAt = this.context.clock.now();
    connection.send(this.head, this.body);
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
    const { parser } = this;
    parser.feed(bytes);
    const answer = this.answer ?? this.beginAnswer(parser.head);
    if (parser.bodyEnd > parser.bodyAt) answer?.push(bytes, parser.bodyAt, parser.bodyEnd);
    if (parser.error !== null) this.failProtocol(connection, parser.error);
    else if (answer !== null && parser.isOver) this.finish(connection, answer, parser.hasSurplus);
  }

  private beginAnswer(head: ResponseHead | null): HttpAnswer | null {
    if (head === null) return null;
    const answer = new HttpAnswer(head, this, this.context.bounds);
    this.answer = answer;
    this.body = null;
    this.resolve(head.hasCoding ? decodeResponse(answer) : answer);
    return answer;
  }

  closed(connection: Connection, error: TransportError | null): void {
    this.connection = null;
    // The usual race of keep-alive: the server closed the idle connection just before the request arrived. The connection fails
    // immediately and without a byte of an answer. A server that closes later has received the request and may have processed it.
    const isRace =
      connection.isReused && !this.hasReceived && this.context.clock.now() - this.sentAt < RACE_MS;
    if (isRace) this.connect(this.target!);
    else if (this.answer === null)
      this.fail(error ?? new TransportError("reset", "closed before the answer"));
    else this.endBody(this.answer, error);
  }

  pause(): void {
    this.connection?.pause();
  }

  resume(): void {
    this.connection?.resume();
  }

  private connect(target: Target): void {
    const { clock, ca, bounds } = this.context;
    const { systemBufferBytes } = bounds;
    const timeoutMs = this.connectTimeoutMs;
    this.connection = new Connection(target, { clock, ca, timeoutMs, systemBufferBytes }, this);
  }

  /**
   * Sends the request again on a new connection. The reused one receives bytes while the request is still being sent, so they
   * may belong to its previous exchange. The server cannot have processed a partial request.
   */
  private startOver(connection: Connection): void {
    connection.drop();
    this.connect(this.target!);
  }

  private finish(connection: Connection, answer: HttpAnswer, surplus: boolean): void {
    this.connection = null;
    if (surplus) this.context.pool.distrust(connection.origin);
    // A server that answers early may read the rest of the request as the next one.
    if (surplus || this.isEarly || !connection.isFlushed || !answer.keepAlive) {
      connection.end();
    } else {
      connection.resume();
      this.context.pool.put(connection);
    }
    answer.end();
  }

  private failProtocol(connection: Connection, why: string): void {
    this.connection = null;
    connection.drop();
    const error = new TransportError("protocol", why);
    if (this.answer === null) this.fail(error);
    else this.answer.fail(error);
  }

  /** Ends the body after the connection has closed. A body without a declared length ends with a clean close. */
  private endBody(answer: HttpAnswer, error: TransportError | null): void {
    if (error === null && this.parser.finish() === "ended") answer.end();
    else answer.fail(new TransportError("truncated", error?.message ?? "closed before the body's end"));
  }

  private fail(error: TransportError): void {
    // After a cancel the caller may not handle the rejection.
    this.response.catch(() => {});
    this.reject(error);
  }
}
