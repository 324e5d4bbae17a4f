import type { Clock, Timer } from "../../base/time/clock.ts";
import type { Http1Bounds } from "./bounds.ts";
import type { Connection, ConnectionUser } from "./connection.ts";
import { createTurnCounter, type TurnCounter } from "./turn-counter.ts";

/** Idle connections, which are reused for the same origin. */
export interface Pool {
  /** Removes and returns the most recently used rested connection, which the server is least likely to close; null if there is none. */
  take(origin: string): Connection | null;
  /** Adds an open connection. Closes it, or an older one, if a bound is reached. */
  put(connection: Connection): void;
  /** Reports bytes that belong to no answer. For a while connections to the origin are not reused. */
  distrust(origin: string): void;
  /** Closes all connections, including those that are added later. */
  close(): void;
}

/**
 * Creates a pool. Connections that are idle for longer than `bounds.idleMs` are closed within the same time again. `onDistrust` is
 * called once each time an origin loses its trust.
 */
export function createPool(clock: Clock, bounds: Http1Bounds, onDistrust: (origin: string) => void): Pool {
  return new IdlePool(clock, bounds, onDistrust);
}

/** The connections and the state of one origin. */
interface Origin {
  /** Idle connections, the oldest first. */
  readonly idle: Connection[];
  /** Whether one of its connections was silent for `probationMs` after an answer. */
  isTrusted: boolean;
  /** Until this time its connections are not reused. */
  distrustedUntil: number;
}

/**
 * Idle connections to reuse. In HTTP/1.1 an answer does not name its request. If a server sends more bytes than its answer, they would be
 * read as the answer to the connection's next request, which may be another caller's. Therefore a connection rests before its reuse, and is
 * closed if it receives a byte during that time. The rest lasts until the event loop has polled the socket once more. Connections to an
 * origin that is not trusted yet must also be silent for `probationMs`, which detects servers that always send too much.
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
      removeAt(idle, at);
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
    const isFirst = now >= origin.distrustedUntil;
    origin.distrustedUntil = now + this.bounds.distrustMs;
    origin.isTrusted = false;
    for (const connection of origin.idle) connection.end();
    this.total -= origin.idle.length;
    origin.idle.length = 0;
    this.startSweeping();
    if (isFirst) this.onDistrust(name);
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
   * Handles bytes on an idle connection. Soon after an answer they are a surplus of it. Later they are a message before a
   * close, such as the 408 of a load balancer.
   */
  received(connection: Connection): void {
    this.remove(connection);
    connection.drop();
    if (this.clock.now() - connection.idleSince < this.bounds.strayMs) this.distrust(connection.origin);
  }

  closed(connection: Connection): void {
    this.remove(connection);
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

  private remove(connection: Connection): void {
    const idle = this.origins.get(connection.origin)?.idle ?? [];
    const at = idle.indexOf(connection);
    if (at < 0) return;
    removeAt(idle, at);
    this.total -= 1;
  }

  private evictOldest(): void {
    let oldest: Connection | null = null;
    for (const { idle } of this.origins.values()) {
      const first = idle[0];
      if (first !== undefined && (oldest === null || first.idleSince < oldest.idleSince)) oldest = first;
    }
    if (oldest === null) return;
    this.remove(oldest);
    oldest.end();
  }

  private startSweeping(): void {
    this.sweeper ??= this.clock.every(this.bounds.idleMs, () => this.sweep());
  }

  /** Closes expired connections, and removes origins without connections that are not distrusted. */
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

/** Removes an element near the end of a list. `splice` would create a list of what it removes. */
function removeAt<T>(list: T[], index: number): void {
  for (let at = index + 1; at < list.length; at++) list[at - 1] = list[at] as T;
  list.pop();
}
