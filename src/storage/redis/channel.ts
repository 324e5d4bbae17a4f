import type { RedisClient } from "bun";
import type { Clock, Timer } from "../../base/clock.ts";
import { openConnection, type Redis } from "./client.ts";

/** Messages between gateways, which may be lost. */
export interface RedisChannel {
  /** Sends a message to all gateways, also to this one. Dropped while Redis is away, and beyond so many messages a second. */
  publish(message: string): void;
  close(): void;
}

/** Settings of a channel. */
export interface RedisChannelOptions {
  readonly redis: Redis;
  /** The server of `redis`. Messages are received on a connection of their own. */
  readonly url: string;
  readonly clock: Clock;
  readonly name: string;
  /** Called with each message. */
  readonly onMessage: (message: string) => void;
}

const MAX_PER_SECOND = 50;
/** How often a lost connection is opened again. Milliseconds. */
const RECONNECT_MS = 1_000;

/** Opens a channel. */
export function openRedisChannel(options: RedisChannelOptions): RedisChannel {
  return new Channel(options);
}

/** Bun's client loses its subscriptions when it reconnects, so that a connection that is lost is replaced by a new one. */
class Channel implements RedisChannel {
  private connection: RedisClient | null = null;
  private readonly timer: Timer;
  private published = 0;

  constructor(private readonly options: RedisChannelOptions) {
    this.timer = options.clock.every(RECONNECT_MS, () => {
      this.published = 0;
      if (this.connection === null) this.subscribe();
    });
    // The connection of a server that is gone may stay open here.
    options.redis.onChange((isAvailable) => (isAvailable ? undefined : this.drop()));
    this.subscribe();
  }

  publish(message: string): void {
    const { redis, name } = this.options;
    if (!redis.isAvailable || this.published >= MAX_PER_SECOND) return;
    this.published += 1;
    redis.send("PUBLISH", [name, message]).catch(() => {});
  }

  close(): void {
    this.timer.cancel();
    this.drop();
  }

  private subscribe(): void {
    const connection = openConnection(this.options.url, false);
    this.connection = connection;
    const lose = (): void => {
      if (this.connection === connection) this.drop();
    };
    connection.onclose = lose;
    connection
      .connect()
      .then(() => connection.subscribe(this.options.name, (message) => this.options.onMessage(message)))
      .catch(lose);
  }

  private drop(): void {
    const { connection } = this;
    this.connection = null;
    if (connection === null) return;
    connection.onclose = null;
    connection.close();
  }
}
