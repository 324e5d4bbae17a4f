import type { Clock, Timer } from "../../base/time/clock.ts";
import type { Redis, RedisSubscription } from "./client.ts";

/** Messages between gateways, which may be lost. */
export interface RedisChannel {
  /** Sends a message to all gateways, including this one. Messages are dropped while Redis is unavailable, and beyond a number per second. */
  publish(message: string): void;
  close(): void;
}

/** Settings of a channel. Messages are received on a connection of their own. */
interface RedisChannelOptions {
  readonly redis: Redis;
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

class Channel implements RedisChannel {
  private subscription: RedisSubscription | null = null;
  private readonly timer: Timer;
  private published = 0;

  constructor(private readonly options: RedisChannelOptions) {
    this.timer = options.clock.every(RECONNECT_MS, () => {
      this.published = 0;
      if (this.subscription === null) this.subscribe();
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
    const { redis, name, onMessage } = this.options;
    const subscription: RedisSubscription = redis.subscribe(name, onMessage, () => {
      if (this.subscription === subscription) this.drop();
    });
    this.subscription = subscription;
  }

  private drop(): void {
    const { subscription } = this;
    this.subscription = null;
    subscription?.close();
  }
}
