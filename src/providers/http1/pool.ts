import type { Clock, Timer } from "../../base/clock.ts";
import type { Http1Bounds } from "./bounds.ts";
import type { Connection, ConnectionUser } from "./connection.ts";
import { createTurnCounter, type TurnCounter } from "./turn-counter.ts";

/** Connections without an exchange, for the next one to the same origin. */
export interface Pool {
  /** The rested connection that was used last, which the server is least likely to have closed; null when there is none. */
  take(origin: string): Connection | null;
  /** Keeps an open connection, or closes it or an older one where a bound says so. */
  put(connection: Connection): void;
  /** Reports bytes that belong to no answer: for a while no connection to the origin is used twice. */
  distrust(origin: string): void;
  /** Closes all; what is put later is closed too. */
  close(): void;
}

/**
 * Makes a pool. Idle ones older than `bounds.idleMs` are closed within as long again. `onDistrust` is called once each
 * time an origin loses its trust.
 */
export function createPool(clock: Clock, bounds: Http1Bounds, onDistrust: (origin: string) => void): Pool {
  return new IdlePool(clock, bounds, onDistrust);
}

/** What the pool knows of one origin. */
interface Origin {
  /** Idle connections, the oldest first. */
  readonly idle: Connection[];
  /** One of its connections was silent for `probationMs` after an answer. */
  isTrusted: boolean;
  /** Until then its connections are not kept. */
  distrustedUntil: number;
}

/**
 * HTTP/1.1 does not say which request an answer belongs to. A server that sends more than its answer therefore answers
 * the connection's next request ahead of time, with what was meant for another caller. So a connection rests before it
 * is used again, and one that receives a byte meanwhile is closed. The rest lasts until the event loop has looked at the
 * socket once more. An origin that is not trusted yet has to stay silent for `probationMs` as well; that finds servers
 * that always send too much, however their packets are spread, before any caller is harmed.
 */
class IdlePool implements Pool, ConnectionUser {
  private readonly origins = new Map<string, Origin>();
  private readonly turns: TurnCounter = createTurnCounter();
  private total = 0;
  private sweeper: Timer | null = null;
  private isClosed = false;

  constructor(
    private readonly clock: Clock,
    private readonly bounds: Http1Bounds,
    private readonly onDistrust: (origin: string) => void,
  ) {}

  take(name: string): Connection | null {
    const origin = this.origins.get(name);
    if (origin === undefined) return null;
    const { idle } = origin;
    const now = this.clock.now();
    for (let at = idle.length - 1; at >= 0; at--) {
      const connection = idle[at]!;
      if (!this.isRested(connection, origin, now)) continue;
      if (now - connection.idleSince >= this.bounds.probationMs) origin.isTrusted = true;
      idle.splice(at, 1);
      this.total -= 1;
      return connection;
    }
    return null;
  }

  put(connection: Connection): void {
    const origin = this.originOf(connection.origin);
    const now = this.clock.now();
    if (this.isClosed || now < origin.distrustedUntil || origin.idle.length >= this.bounds.idlePerOrigin) {
      connection.end();
      return;
    }
    if (this.total >= this.bounds.idleTotal) this.evictOldest();
    connection.user = this;
    connection.isReused = true;
    connection.idleSince = now;
    connection.restedAtTurn = this.turns.nextPolled();
    origin.idle.push(connection);
    this.total += 1;
    this.startSweeping();
  }

  distrust(name: string): void {
    if (this.isClosed) return;
    const origin = this.originOf(name);
    const now = this.clock.now();
    const isNews = now >= origin.distrustedUntil;
    origin.distrustedUntil = now + this.bounds.distrustMs;
    origin.isTrusted = false;
    for (const connection of origin.idle) connection.end();
    this.total -= origin.idle.length;
    origin.idle.length = 0;
    this.startSweeping();
    if (isNews) this.onDistrust(name);
  }

  close(): void {
    this.isClosed = true;
    for (const { idle } of this.origins.values()) {
      for (const connection of idle) connection.end();
    }
    this.origins.clear();
    this.total = 0;
    this.stopSweeping();
  }

  opened(): void {}

  /**
   * Bytes on an idle connection. Soon after an answer they are part of it that its length left out. Later they are a
   * server's farewell, such as a 408 of a load balancer that closes.
   */
  received(connection: Connection): void {
    this.forget(connection);
    connection.drop();
    if (this.clock.now() - connection.idleSince < this.bounds.strayMs) this.distrust(connection.origin);
  }

  closed(connection: Connection): void {
    this.forget(connection);
  }

  private isRested(connection: Connection, { isTrusted }: Origin, now: number): boolean {
    if (connection.restedAtTurn > this.turns.count) return false;
    return isTrusted || now - connection.idleSince >= this.bounds.probationMs;
  }

  private originOf(name: string): Origin {
    let origin = this.origins.get(name);
    if (origin === undefined) {
      origin = { idle: [], isTrusted: false, distrustedUntil: 0 };
      this.origins.set(name, origin);
    }
    return origin;
  }

  private forget(connection: Connection): void {
    const idle = this.origins.get(connection.origin)?.idle ?? [];
    const at = idle.indexOf(connection);
    if (at < 0) return;
    idle.splice(at, 1);
    this.total -= 1;
  }

  private evictOldest(): void {
    let oldest: Connection | null = null;
    for (const { idle } of this.origins.values()) {
      const first = idle[0];
      if (first !== undefined && (oldest === null || first.idleSince < oldest.idleSince)) oldest = first;
    }
    if (oldest === null) return;
    this.forget(oldest);
    oldest.end();
  }

  private startSweeping(): void {
    this.sweeper ??= this.clock.every(this.bounds.idleMs, () => this.sweep());
  }

  /** Also forgets origins that have no connections and no blame. */
  private sweep(): void {
    const now = this.clock.now();
    for (const [name, { idle, distrustedUntil }] of this.origins) {
      while (idle[0] !== undefined && idle[0].idleSince <= now - this.bounds.idleMs) {
        idle.shift()?.end();
        this.total -= 1;
      }
      if (idle.length === 0 && distrustedUntil <= now) this.origins.delete(name);
    }
    if (this.origins.size === 0) this.stopSweeping();
  }

  private stopSweeping(): void {
    this.sweeper?.cancel();
    this.sweeper = null;
  }
}
