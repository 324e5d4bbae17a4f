import type { Clock, Timer } from "../../base/clock.ts";
import type { Http1Bounds } from "./bounds.ts";
import type { Connection, ConnectionUser } from "./connection.ts";

/** Connections without an exchange, for the next one to the same origin. */
export interface Pool {
  /** The one used last, which the server is least likely to have given up; null when there is none. */
  take(origin: string): Connection | null;
  /** Keeps an open connection, or closes it or an older one where a bound says so. */
  put(connection: Connection): void;
  /** Closes all; what is put later is closed too. */
  close(): void;
}

/** Makes a pool. Idle ones older than `bounds.idleMs` are closed within as long again. */
export function createPool(clock: Clock, bounds: Http1Bounds): Pool {
  return new IdlePool(clock, bounds);
}

class IdlePool implements Pool, ConnectionUser {
  private readonly clock: Clock;
  private readonly bounds: Http1Bounds;
  /** By origin, the oldest first. */
  private readonly idle = new Map<string, Connection[]>();
  private total = 0;
  private sweeper: Timer | null = null;
  private isClosed = false;

  constructor(clock: Clock, bounds: Http1Bounds) {
    this.clock = clock;
    this.bounds = bounds;
  }

  take(origin: string): Connection | null {
    const connection = this.idle.get(origin)?.pop();
    if (connection === undefined) return null;
    this.total -= 1;
    return connection;
  }

  put(connection: Connection): void {
    const siblings = this.siblingsOf(connection.origin);
    if (this.isClosed || siblings.length >= this.bounds.idlePerOrigin) {
      connection.end();
      return;
    }
    if (this.total >= this.bounds.idleTotal) this.evictOldest();
    connection.user = this;
    connection.isReused = true;
    connection.idleSince = this.clock.now();
    siblings.push(connection);
    this.total += 1;
    this.sweeper ??= this.clock.every(this.bounds.idleMs, () => this.sweep());
  }

  close(): void {
    this.isClosed = true;
    for (const siblings of this.idle.values()) {
      for (const connection of siblings) connection.end();
    }
    this.idle.clear();
    this.total = 0;
    this.stopSweeping();
  }

  opened(): void {}

  /** A server has nothing to say between exchanges. Reading on would let it answer the next one ahead. */
  received(connection: Connection): void {
    this.forget(connection);
    connection.drop();
  }

  closed(connection: Connection): void {
    this.forget(connection);
  }

  private siblingsOf(origin: string): Connection[] {
    let siblings = this.idle.get(origin);
    if (siblings === undefined) {
      siblings = [];
      this.idle.set(origin, siblings);
    }
    return siblings;
  }

  private forget(connection: Connection): void {
    const siblings = this.idle.get(connection.origin) ?? [];
    const at = siblings.indexOf(connection);
    if (at < 0) return;
    siblings.splice(at, 1);
    this.total -= 1;
  }

  private evictOldest(): void {
    let oldest: Connection | null = null;
    for (const [first] of this.idle.values()) {
      if (first !== undefined && (oldest === null || first.idleSince < oldest.idleSince)) oldest = first;
    }
    if (oldest === null) return;
    this.forget(oldest);
    oldest.end();
  }

  /** Also lets go of origins that nobody calls any more. */
  private sweep(): void {
    const limit = this.clock.now() - this.bounds.idleMs;
    for (const [origin, siblings] of this.idle) {
      while (siblings[0] !== undefined && siblings[0].idleSince <= limit) {
        siblings.shift()?.end();
        this.total -= 1;
      }
      if (siblings.length === 0) this.idle.delete(origin);
    }
    if (this.total === 0) this.stopSweeping();
  }

  private stopSweeping(): void {
    this.sweeper?.cancel();
    this.sweeper = null;
  }
}
