import type { Clock, Timer } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { LimitScope } from "../../core/limits/rate-limiter.ts";
import type { Redis } from "./client.ts";
import {
  type AdmitAnswer,
  type AdmitCall,
  type CountedScope,
  decodeAdmit,
  encodeAdmit,
  type LimitKeys,
} from "./limit-calls.ts";
import { type LimitChange, LimitChanges } from "./limit-changes.ts";
import { ADMIT, CHANGE } from "./limit-scripts.ts";
import { type OwnAmount, OwnCounts } from "./own-counts.ts";
import { PastRequests } from "./past-requests.ts";

/** Settings of the counts of several gateways. */
export interface CommonCountsOptions {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly random: Random;
  readonly keys: LimitKeys;
  /** How long a generation counts as running without being renewed. Milliseconds. */
  readonly renewedMs: number;
  /** Returns the time that scripts count by; 0 for the server's. */
  readonly time: () => number;
  /** Lists the generations of this gateway that run, as changes that say so. */
  readonly listRunning: () => readonly LimitChange[];
  /** Called when Redis is told all that was counted without it, and when it is away. */
  readonly onChange: (isJoined: boolean) => void;
}

/** How often running generations are renewed. Milliseconds. */
const RENEWAL_MS = 20_000;
/** How often Redis is tried that answers, but failed when it was told the counts. Milliseconds. */
const RETRY_MS = 1_000;
const ID_BYTES = 12;

/**
 * The counts that several gateways have in common in Redis. While Redis is away, what this gateway counts is kept for it; when it is
 * back, and before anything else is counted there, it is told: all that is still in the windows if it lost its data, else what it does
 * not know.
 */
export class CommonCounts {
  /** Whether requests are counted in Redis. */
  isJoined = false;
  private readonly changes: LimitChanges;
  private readonly own = new OwnCounts();
  private readonly owed = new OwnCounts();
  private readonly past = new PastRequests();
  /** Identifies the data of the server; another value means that it lost them. */
  private life: string | null = null;
  private isSendingPast = false;
  private isJoining = false;
  private readonly timers: readonly Timer[];
  /** Resolves when Redis, if it is there at the start, has been told what was counted. */
  readonly joining: Promise<void>;

  constructor(private readonly options: CommonCountsOptions) {
    const { redis, clock } = options;
    this.changes = new LimitChanges({ ...options, leaseMs: options.renewedMs });
    redis.onChange((isAvailable) => (isAvailable ? void this.join() : this.leave()));
    this.timers = [
      clock.every(RENEWAL_MS, () => this.renew()),
      clock.every(RETRY_MS, () => void this.join()),
    ];
    this.joining = this.join();
  }

  /** Counts a request, or asks for the status of limits. Rejects with a `StoreError` if Redis fails. */
  async ask(call: Omit<AdmitCall, "time" | "leaseMs">): Promise<AdmitAnswer> {
    const { redis, keys, time, renewedMs } = this.options;
    if (!this.past.isEmpty) this.sendPastOf(call.scopes);
    this.changes.flush();
    const whole = { ...call, time: time(), leaseMs: renewedMs };
    return decodeAdmit(await redis.run(ADMIT, encodeAdmit(whole, keys)), whole, keys);
  }

  /** Remembers an amount of this gateway. `isKnown`: Redis has counted it. */
  remember(key: string, amount: OwnAmount, isKnown: boolean): void {
    this.own.add(key, amount);
    if (isKnown) return;
    if (this.isJoined) this.change({ key, what: `${amount.window}+`, first: 0, second: amount.amount });
    else this.owed.add(key, amount);
  }

  /** Remembers a request of the last hour from before the start of this process. */
  restore(key: string, at: number): void {
    this.past.add(key, at);
  }

  /** Ends a generation in its scopes. It ends by itself later if Redis is away. */
  end(id: string, scopes: readonly CountedScope[]): void {
    for (const { runningKey } of scopes)
      if (runningKey !== null) this.change({ key: runningKey, what: "-", first: id, second: 0 });
  }

  /** Changes a key soon, in a group with others. No-op while Redis is away. */
  change(change: LimitChange): void {
    if (this.isJoined) this.changes.add(change);
  }

  /** Sends what waits, and ends what runs at intervals. */
  async close(): Promise<void> {
    for (const timer of this.timers) timer.cancel();
    this.changes.flush();
    // Answered after what was sent before it.
    if (this.isJoined) await this.options.redis.send("PING", []).catch(() => {});
  }

  private async join(): Promise<void> {
    const { redis, clock, onChange } = this.options;
    if (this.isJoined || this.isJoining || !redis.isAvailable) return;
    this.isJoining = true;
    try {
      for (const { text } of [ADMIT, CHANGE]) await redis.send("SCRIPT", ["LOAD", text]);
      const hasLostData = await this.hasLostData();
      if (!redis.isAvailable) return;
      const now = clock.now();
      const counts = hasLostData ? this.own.list(now) : this.owed.list(now);
      this.owed.clear();
      this.isJoined = true;
      for (const change of [...counts, ...this.options.listRunning()]) this.change(change);
      // Sent on the same connection before any request is counted.
      this.changes.flush();
      onChange(true);
      void this.sendPast();
    } catch {
      // Redis is away again.
    } finally {
      this.isJoining = false;
    }
  }

  private leave(): void {
    if (!this.isJoined) return;
    this.isJoined = false;
    this.options.onChange(false);
  }

  /** Returns whether the server's data are not those that this gateway has counted in so far. */
  private async hasLostData(): Promise<boolean> {
    const { redis, random, keys } = this.options;
    const fresh = Buffer.from(random.bytes(ID_BYTES)).toString("base64url");
    const found = await redis.send("SET", [keys.life(), fresh, "NX", "GET"]);
    const life = typeof found === "string" ? found : fresh;
    const hasLost = life !== this.life;
    this.life = life;
    return hasLost;
  }

  /** Sends the requests of before the start in some scopes, before the next request is counted for them. */
  private sendPastOf(scopes: readonly LimitScope[]): void {
    const changes = this.past.take(scopes.map((scope) => this.options.keys.windows(scope)));
    if (changes.length > 0) this.changes.send(changes).catch(() => {});
  }

  /** Sends the requests of before the start, one call after the other, because they may be many. */
  private async sendPast(): Promise<void> {
    if (this.isSendingPast) return;
    this.isSendingPast = true;
    while (this.isJoined && !this.past.isEmpty) await this.changes.send(this.past.take()).catch(() => {});
    this.isSendingPast = false;
  }

  private renew(): void {
    void this.sendPast();
    for (const change of this.options.listRunning()) this.change(change);
  }
}
