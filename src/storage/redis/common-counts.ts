import type { Random } from "../../base/secrets/random.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import type { Redis } from "./client.ts";
import { CountQueue, MAX_KEYS } from "./count-queue.ts";
import { describeProblem, replyOf } from "./describe-problem.ts";
import type { LimitAnswer, LimitQuestion } from "./limit-calls.ts";
import { COUNT } from "./limit-script.ts";
import { PastRequests } from "./past-requests.ts";
import { ScopeCounts } from "./scope-counts.ts";

/** Settings of the counts of several gateways. */
interface CommonCountsOptions {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly random: Random;
  /** The beginning of all keys. */
  readonly prefix: string;
  /** How long a gateway's running requests count without being renewed. Milliseconds. */
  readonly renewedMs: number;
  /** Returns the time that is counted by, for tests; null for the server's. */
  readonly time: () => number | null;
  /** Called when Redis has received everything that was counted without it, and when it becomes unavailable. */
  readonly onChange: (isJoined: boolean) => void;
}

/** How often running requests are renewed. Milliseconds. */
const RENEWAL_MS = 20_000;
/** How often Redis is asked whether it still has its data, and what its time is; and how often it is tried after a failure. Milliseconds. */
const CHECK_MS = 1_000;
const ID_BYTES = 12;

/**
 * The counts that several gateways share in Redis. While Redis is unavailable, what this gateway counts is owed. When Redis is back, it
 * gets the owed counts before anything else is counted there. A Redis that has lost its data gets everything that is still in the windows.
 * A replaced value is noticed with the next request that is counted in it, and an empty server within a second.
 */
export class CommonCounts {
  /** Whether requests are counted in Redis. */
  isJoined = false;
  /** Why requests are not counted in a Redis that answers; null if there is no known problem. */
  problem: string | null = null;
  readonly counts = new ScopeCounts();
  private readonly queue: CountQueue;
  private readonly past = new PastRequests();
  /** The identity of each server's data. Another value means that the server has lost them. */
  private lives = new Map<string, string>();
  /** By how much the clock of the server is ahead of this one's. Milliseconds. */
  private aheadMs = 0;
  private isBusy = false;
  private isRenewing = false;
  private isClosed = false;
  private readonly timers: readonly Timer[];
  /** Resolves when Redis, if it is available at the start, has received the existing counts. */
  readonly joining: Promise<void>;

  constructor(private readonly options: CommonCountsOptions) {
    const { redis, clock, random, prefix, renewedMs, time } = options;
    this.queue = new CountQueue({
      redis,
      clock,
      prefix,
      counts: this.counts,
      gateway: Buffer.from(random.bytes(ID_BYTES)).toString("base64url"),
      leaseMs: renewedMs,
      time: () => time() ?? Math.round(clock.now() + this.aheadMs),
    });
    redis.onChange((isAvailable) => (isAvailable ? void this.check() : this.leave()));
    this.timers = [
      clock.every(RENEWAL_MS, () => void this.renew()),
      clock.every(CHECK_MS, () => void this.check()),
    ];
    this.joining = this.check();
  }

  /** Counts a request, or reads the status of limits. All scopes belong to one partition. Rejects with a `StoreError` if Redis fails. */
  async ask(question: LimitQuestion, keys: readonly string[]): Promise<LimitAnswer> {
    if (!this.past.isEmpty) this.restorePast(keys);
    try {
      return await this.queue.ask(question);
    } catch (error) {
      // A server that rejects the script counts nothing until it accepts it again.
      if (replyOf(error) !== null) this.leave(error);
      throw error;
    }
  }

  /** Remembers a request of the last hour from before the start of this process. */
  restore(key: string, at: number): void {
    this.past.add(key, at);
  }

  /** Corrects an amount that Redis has counted. No-op while Redis is unavailable. */
  correct(key: string, correction: Parameters<CountQueue["change"]>[1]): void {
    if (this.isJoined) this.queue.change(key, correction);
  }

  /** Sends Redis soon what is owed, or has ended, of a scope; if Redis is unavailable, when it is back. */
  touch(key: string): void {
    if (this.isJoined) this.queue.touch(key);
  }

  /** Sends what waits, and stops the timers. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const timer of this.timers) timer.cancel();
    if (this.isJoined) await this.queue.flush();
  }

  /** Joins if Redis is available. If this gateway has already joined, finds out whether Redis has lost its data. */
  private async check(): Promise<void> {
    const { redis, onChange } = this.options;
    if (this.isBusy || this.isClosed || !redis.isAvailable) return;
    this.isBusy = true;
    try {
      const isJoining = !this.isJoined;
      await this.readTime();
      if (isJoining) await this.loadScript();
      if ((await this.hasLostData()) || isJoining) await this.carryAll();
      if (!redis.isAvailable || !isJoining) return;
      this.isJoined = true;
      this.problem = null;
      // The counts that were owed meanwhile.
      for (const scope of this.counts.list()) if (scope.mustCarry) this.queue.touch(scope.key);
      onChange(true);
      void this.restoreAll();
    } catch (error) {
      this.problem = describeProblem(error);
    } finally {
      this.isBusy = false;
    }
  }

  private leave(error: unknown = null): void {
    if (!this.isJoined) return;
    this.isJoined = false;
    this.problem = error === null ? null : describeProblem(error);
    this.options.onChange(false);
  }

  /** Makes the script known to all servers, so that calls are carried out in their order. */
  private async loadScript(): Promise<void> {
    const { redis, prefix } = this.options;
    const keys = redis.listOwnTags().map((tag) => `${prefix}script:${tag}`);
    await Promise.all(keys.map((key) => redis.run(COUNT, { keys: [key], values: [NOTHING] })));
  }

  private async readTime(): Promise<void> {
    const { redis, clock } = this.options;
    const before = clock.now();
    const [seconds, microseconds] = (await redis.send("TIME", [])) as [string, string];
    const ahead = Number(seconds) * 1_000 + Number(microseconds) / 1_000 - (before + clock.now()) / 2;
    if (Number.isFinite(ahead)) this.aheadMs = ahead;
  }

  /** Returns whether a server has lost the data in which this gateway has counted so far. */
  private async hasLostData(): Promise<boolean> {
    const { redis, random, prefix } = this.options;
    const lives = new Map<string, string>();
    await Promise.all(
      redis.listOwnTags().map(async (tag) => {
        const fresh = Buffer.from(random.bytes(ID_BYTES)).toString("base64url");
        const found = await redis.send("SET", [`${prefix}life:${tag}`, fresh, "NX", "GET"]);
        lives.set(tag, typeof found === "string" ? found : fresh);
      }),
    );
    const hasLost = [...lives].some(([tag, life]) => this.lives.get(tag) !== life);
    this.lives = lives;
    return hasLost;
  }

  /** Sends Redis the counts of this gateway that it lacks, one call after another, because there may be many. */
  private async carryAll(): Promise<void> {
    const now = this.options.clock.now();
    let touched = 0;
    for (const scope of this.counts.list()) {
      if (scope.isEmpty(now)) continue;
      scope.mustCarry = true;
      this.queue.touch(scope.key);
      touched += 1;
      if (touched % MAX_KEYS === 0) await this.queue.flush();
    }
    await this.queue.flush();
  }

  /** Sends the requests from before the start in some scopes, before the next request is counted for them. */
  private restorePast(keys: readonly string[]): void {
    for (const [key, hour] of this.past.take(this.now(), keys)) this.queue.change(key, ["restore", hour]);
  }

  /** Sends the requests from before the start, one call after another, because there may be many. */
  private async restoreAll(): Promise<void> {
    while (this.isJoined && !this.past.isEmpty) {
      for (const [key, hour] of this.past.take(this.now())) this.queue.change(key, ["restore", hour]);
      await this.queue.flush();
    }
  }

  private now(): number {
    return this.options.time() ?? this.options.clock.now();
  }

  /** Sends the numbers of running requests, one call after another, because there may be many. */
  private async renew(): Promise<void> {
    if (!this.isJoined || this.isRenewing) return;
    this.isRenewing = true;
    void this.restoreAll();
    let renewed = 0;
    for (const { key, isConcurrent, running, asking } of this.counts.list()) {
      if (!isConcurrent || running === 0 || !this.isJoined) continue;
      this.queue.change(key, asking === 0 ? ["running", running, false] : ["running", 0, true]);
      renewed += 1;
      if (renewed % MAX_KEYS === 0) await this.queue.flush();
    }
    this.isRenewing = false;
  }
}

/** A call of the script that counts nothing. */
const NOTHING = JSON.stringify({ now: 0, gateway: "", lease: 0, fresh: "", known: [""], ops: [] });
