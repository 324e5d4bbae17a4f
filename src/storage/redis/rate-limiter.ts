import type { Clock } from "../../base/clock.ts";
import { PassingMap } from "../../base/passing-map.ts";
import type { Random } from "../../base/random.ts";
import { StoreError } from "../../base/store-error.ts";
import { type FindLiveGateways, shareOf, withoutBounds } from "../../core/limits/limit-share.ts";
import { MemoryRateLimiter } from "../../core/limits/memory-rate-limiter.ts";
import type {
  LimitDecision,
  LimitRequest,
  LimitScope,
  RateLimiter,
  RateLimitStatus,
} from "../../core/limits/rate-limiter.ts";
import type { Redis } from "./client.ts";
import { CommonCounts } from "./common-counts.ts";
import { type AdmitAnswer, type AdmitCall, type CountedScope, LimitKeys } from "./limit-calls.ts";
import type { LimitChange } from "./limit-changes.ts";

/** Settings of a rate limiter on Redis. */
export interface RedisRateLimiterOptions {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds after which a generation that was never settled stops counting as concurrent. Longer than any generation. */
  readonly leaseMs: number;
  /** By which this gateway takes its share while Redis is away. */
  readonly findLiveGateways: FindLiveGateways;
  /** Called when requests begin to be counted in Redis, or to be admitted by shares. */
  readonly onChange?: (countsInRedis: boolean) => void;
  /** For tests: another `RENEWED_MS`, a prefix of all keys, and scripts that count by the times that are passed to the limiter. */
  readonly test?: { readonly prefix: string; readonly renewedMs: number };
}

/** How long a generation counts as concurrent after its gateway has said for the last time that it runs. Milliseconds. */
const RENEWED_MS = 60_000;

/** A generation that was admitted and has not ended. */
interface Running {
  readonly scopes: readonly CountedScope[];
  readonly expiresAt: number;
  /** Whether Redis has counted it, and can correct what it counted. */
  readonly isInRedis: boolean;
}

/**
 * A rate limiter of several gateways, which count together in Redis. While Redis is away, each admits its share of the limits, less what
 * it has counted before.
 */
export class RedisRateLimiter implements RateLimiter {
  /** Counts all that this gateway admits, to know it when Redis is away. */
  private readonly local: MemoryRateLimiter;
  private readonly keys: LimitKeys;
  private readonly common: CommonCounts;
  /** The oldest first; they expire in this order. */
  private readonly admitted = new PassingMap<string, Running>();
  /** Whether the local limiter is counting a request that Redis has admitted already. */
  private isDecided = false;
  /** The time of the last call, for tests. */
  private lastTime = 0;
  private restored = 0;

  constructor(private readonly options: RedisRateLimiterOptions) {
    const { leaseMs, test, onChange } = options;
    this.keys = new LimitKeys(test?.prefix ?? "gateway:");
    this.local = new MemoryRateLimiter({ leaseMs, shareOf: (scope) => this.boundsOf(scope) });
    this.common = new CommonCounts({
      ...options,
      keys: this.keys,
      renewedMs: test?.renewedMs ?? RENEWED_MS,
      time: () => (test === undefined ? 0 : this.lastTime),
      listRunning: () => this.listRunning(),
      onChange: onChange ?? (() => {}),
    });
  }

  /** Resolves when requests are counted in Redis, if it is there at the start. */
  async start(): Promise<void> {
    await this.common.joining;
  }

  /** Tells Redis what waits, and ends what runs at intervals. */
  async close(): Promise<void> {
    await this.common.close();
  }

  /** Whether requests are counted in Redis; else they are admitted by shares. */
  get countsInRedis(): boolean {
    return this.common.isJoined;
  }

  get running(): number {
    return this.local.running;
  }

  async admit(request: LimitRequest, now: number): Promise<LimitDecision> {
    const { scopes } = request;
    const answer = await this.ask({ mode: "admit", scopes, request }, now);
    if (answer === null) return this.admitShare(request, now);
    const { rejection, limitStatus, counted } = answer;
    if (rejection !== null) return { kind: "rejected", rejection, limitStatus };
    this.countDecided(() => this.local.admit(request, now));
    this.begin(request.id, { scopes: counted, isInRedis: true, expiresAt: now + this.options.leaseMs }, now);
    return { kind: "admitted", limitStatus };
  }

  async count(scopes: readonly LimitScope[], now: number): Promise<LimitDecision> {
    const answer = await this.ask({ mode: "count", scopes, request: null }, now);
    if (answer === null) {
      const decision = this.local.count(scopes, now);
      if (decision.kind === "admitted") this.rememberRequests(this.describeScopes(scopes), now, false);
      return decision;
    }
    const { rejection, limitStatus, counted } = answer;
    if (rejection !== null) return { kind: "rejected", rejection, limitStatus };
    this.countDecided(() => this.local.count(scopes, now));
    this.rememberRequests(counted, now, true);
    return { kind: "admitted", limitStatus };
  }

  async peek(scopes: readonly LimitScope[], now: number): Promise<RateLimitStatus> {
    const answer = await this.ask({ mode: "peek", scopes, request: null }, now);
    return answer === null ? this.local.peek(scopes, now) : answer.limitStatus;
  }

  settle(id: string, tokens: number): void {
    this.local.settle(id, tokens);
    const running = this.end(id);
    if (running === null) return;
    const { scopes, isInRedis } = running;
    for (const { windowsKey, amounts } of scopes) {
      const reserved = amounts.find(({ window }) => window === "t");
      if (reserved === undefined) continue;
      const second = tokens - reserved.amount;
      if (isInRedis && second !== 0)
        this.common.change({ key: windowsKey, what: "t", first: reserved.slice, second });
      const amount = { window: "t", amount: tokens, now: this.options.clock.now() } as const;
      this.common.remember(windowsKey, amount, isInRedis);
    }
  }

  cancel(id: string): void {
    this.local.cancel(id);
    const running = this.end(id);
    if (running === null) return;
    const now = this.options.clock.now();
    for (const { windowsKey: key, amounts } of running.scopes) {
      for (const { window, slice, amount } of amounts) {
        if (running.isInRedis) this.common.change({ key, what: window, first: slice, second: -amount });
        if (window !== "t") this.common.remember(key, { window, amount: -1, now }, running.isInRedis);
      }
    }
  }

  /** Each gateway restores its share of the requests for itself, and all of them for a Redis that does not know them. */
  restore(scope: LimitScope, at: number): void {
    const live = this.options.findLiveGateways();
    if (live === null || this.restored % live.count === live.rank) this.local.restore(scope, at);
    this.restored += 1;
    if (scope.requestsPerHour !== undefined) this.common.restore(this.keys.windows(scope), at);
  }

  /** Asks Redis. Returns null if it is away or fails. */
  private async ask(
    call: Pick<AdmitCall, "mode" | "scopes" | "request">,
    now: number,
  ): Promise<AdmitAnswer | null> {
    this.lastTime = now;
    if (!this.common.isJoined) return null;
    try {
      return await this.common.ask(call);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // It may have been counted all the same.
      if (call.request !== null) this.common.end(call.request.id, this.describeScopes(call.scopes));
      return null;
    }
  }

  private async admitShare(request: LimitRequest, now: number): Promise<LimitDecision> {
    const decision = this.local.admit(request, now);
    const scopes = this.describeScopes(request.scopes);
    if (decision.kind === "admitted")
      this.begin(request.id, { scopes, isInRedis: false, expiresAt: now + this.options.leaseMs }, now);
    return decision;
  }

  /** Counts in the local limiter what Redis has admitted. Limiters in memory count before they return. */
  private countDecided(count: () => unknown): void {
    this.isDecided = true;
    count();
    this.isDecided = false;
  }

  private boundsOf(scope: LimitScope): LimitScope {
    return this.isDecided ? withoutBounds(scope) : shareOf(scope, this.options.findLiveGateways());
  }

  private begin(id: string, running: Running, now: number): void {
    this.admitted.set(id, running);
    this.rememberRequests(running.scopes, now, running.isInRedis);
  }

  private end(id: string): Running | null {
    const running = this.admitted.get(id);
    if (running === undefined) return null;
    this.admitted.delete(id);
    this.common.end(id, running.scopes);
    return running;
  }

  private rememberRequests(scopes: readonly CountedScope[], now: number, isKnown: boolean): void {
    for (const { windowsKey, amounts } of scopes)
      for (const { window } of amounts)
        if (window !== "t") this.common.remember(windowsKey, { window, amount: 1, now }, isKnown);
  }

  private describeScopes(scopes: readonly LimitScope[]): CountedScope[] {
    return scopes.map((scope) => {
      const { requestsPerMinute, tokensPerMinute, concurrent } = scope.limit;
      const windows = { m: requestsPerMinute, h: scope.requestsPerHour ?? null, t: tokensPerMinute } as const;
      return {
        windowsKey: this.keys.windows(scope),
        runningKey: concurrent === null ? null : this.keys.running(scope),
        amounts: (["m", "h", "t"] as const)
          .filter((window) => windows[window] !== null)
          .map((window) => ({ window, slice: 0, amount: 0 })),
      };
    });
  }

  private listRunning(): LimitChange[] {
    const now = this.options.clock.now();
    const changes: LimitChange[] = [];
    for (const [id, { scopes, expiresAt }] of this.admitted) {
      if (expiresAt <= now) this.admitted.delete(id);
      else
        for (const { runningKey } of scopes)
          if (runningKey !== null) changes.push({ key: runningKey, what: "+", first: id, second: 0 });
    }
    return changes;
  }
}
