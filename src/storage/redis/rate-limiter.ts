import { PassingMap } from "../../base/collections/passing-map.ts";
import { StoreError } from "../../base/failures/store-error.ts";
import type { AddedAmount } from "../../base/numbers/sliding-sum.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import { type FindLiveGateways, shareOf, withoutBounds } from "../../core/limits/limit-share.ts";
import { MemoryRateLimiter } from "../../core/limits/memory-rate-limiter.ts";
import { tightest } from "../../core/limits/meter.ts";
import type {
  LimitDecision,
  LimitRequest,
  LimitScope,
  RateLimiter,
  RateLimitStatus,
} from "../../core/limits/rate-limiter.ts";
import type { Redis } from "./client.ts";
import { CommonCounts } from "./common-counts.ts";
import {
  type CountedAmount,
  type CountedScope,
  describeScopes,
  keyOf,
  type LimitAnswer,
  type LimitQuestion,
  type WindowName,
} from "./limit-calls.ts";

/** Settings of a rate limiter on Redis. */
interface RedisRateLimiterOptions {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds after which a generation that was never settled stops counting as concurrent. Longer than any generation. */
  readonly leaseMs: number;
  /** Decides this gateway's share while Redis is unavailable. */
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
  readonly scopes: readonly CountedHere[];
  readonly expiresAt: number;
  /** Whether Redis has counted it, and can correct what it counted. */
  readonly isInRedis: boolean;
}

/** The amounts counted in a scope, and where this gateway remembers them. */
interface CountedHere extends CountedScope {
  readonly remembered: Readonly<Partial<Record<WindowName, AddedAmount>>>;
}

/**
 * A rate limiter of several gateways, which count together in Redis. While Redis is unavailable, each admits its share of the limits,
 * less what it has counted before.
 */
export class RedisRateLimiter implements RateLimiter {
  /** Counts everything that this gateway admits, so that it is known when Redis is unavailable. */
  private readonly local: MemoryRateLimiter;
  private readonly prefix: string;
  private readonly common: CommonCounts;
  /** The oldest first; they expire in this order. */
  private readonly admitted = new PassingMap<string, Running>();
  /** The time of the last call, for tests. */
  private lastTime = 0;
  private restored = 0;

  constructor(private readonly options: RedisRateLimiterOptions) {
    const { leaseMs, test, onChange } = options;
    this.prefix = test?.prefix ?? "gateway:";
    this.local = new MemoryRateLimiter({
      leaseMs,
      shareOf: (scope) => shareOf(scope, options.findLiveGateways()),
    });
    this.common = new CommonCounts({
      ...options,
      prefix: this.prefix,
      renewedMs: test?.renewedMs ?? RENEWED_MS,
      time: () => (test === undefined ? null : this.lastTime),
      onChange: onChange ?? (() => {}),
    });
  }

  /** Resolves when requests are counted in Redis, if it is there at the start. */
  async start(): Promise<void> {
    await this.common.joining;
  }

  /** Sends waiting changes to Redis, and stops the timers. */
  async close(): Promise<void> {
    await this.common.close();
  }

  /** Whether requests are counted in Redis; otherwise they are admitted by shares. */
  get countsInRedis(): boolean {
    return this.common.isJoined;
  }

  /** Why requests are not counted in a Redis that answers; null if there is no known problem. */
  get problem(): string | null {
    return this.common.problem;
  }

  get running(): number {
    return this.local.running;
  }

  async admit(request: LimitRequest, now: number): Promise<LimitDecision> {
    this.expire(now);
    const answer = await this.ask({ mode: "admit", scopes: request.scopes, request }, now);
    if (answer === null) return this.admitShare(request, now);
    const { rejection, limitStatus, counted } = answer;
    if (rejection !== null) return { kind: "rejected", rejection, limitStatus };
    this.local.admit(request, now, withoutBounds);
    this.begin(request.id, { scopes: this.remember(counted, now), isInRedis: true }, now);
    return { kind: "admitted", limitStatus };
  }

  async count(scopes: readonly LimitScope[], now: number): Promise<LimitDecision> {
    const answer = await this.ask({ mode: "count", scopes, request: null }, now);
    if (answer === null) {
      const decision = this.local.count(scopes, now);
      if (decision.kind === "admitted") this.owe(describeScopes(this.prefix, scopes), now);
      return decision;
    }
    const { rejection, limitStatus, counted } = answer;
    if (rejection !== null) return { kind: "rejected", rejection, limitStatus };
    this.local.count(scopes, now, withoutBounds);
    this.remember(counted, now);
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
    for (const { key, amounts, remembered } of running.scopes) {
      const reserved = amounts.find(({ window }) => window === "t");
      if (reserved === undefined) continue;
      if (running.isInRedis)
        this.correct(key, { ...reserved, difference: tokens - reserved.amount, remembered });
      else this.oweIn(key, "t", tokens, this.options.clock.now());
    }
  }

  cancel(id: string): void {
    this.local.cancel(id);
    const running = this.end(id);
    if (running !== null) this.undo(running);
  }

  /** Each gateway restores its own share of the requests, and all of them for a Redis that does not know them. */
  restore(scope: LimitScope, at: number): void {
    const live = this.options.findLiveGateways();
    if (live === null || this.restored % live.count === live.rank) this.local.restore(scope, at);
    this.restored += 1;
    if (scope.requestsPerHour !== undefined) this.common.restore(keyOf(this.prefix, scope), at);
  }

  /** Asks Redis. Returns null if it is unavailable or fails. */
  private async ask(question: LimitQuestion, now: number): Promise<LimitAnswer | null> {
    this.lastTime = now;
    if (!this.common.isJoined || question.scopes.length === 0) return null;
    const answers: LimitAnswer[] = [];
    for (const scopes of this.divide(question.scopes)) {
      const answer = await this.askPart({ ...question, scopes });
      if (answer !== null) answers.push(answer);
      if (answer !== null && answer.rejection === null) continue;
      // Counts at other servers are taken back.
      const counted = answers.slice(0, answer === null ? answers.length : -1).flatMap((one) => one.counted);
      if (question.mode !== "peek") this.undoCounted(counted, question.mode === "admit");
      return answer;
    }
    return answers.length === 1 ? (answers[0] as LimitAnswer) : join(answers);
  }

  /** Sends a question about scopes of one partition. */
  private async askPart(question: LimitQuestion): Promise<LimitAnswer | null> {
    const keys = question.scopes.map((scope) => keyOf(this.prefix, scope));
    if (question.mode === "admit")
      question.scopes.forEach(({ limit }, at) => {
        this.common.counts.use(keys[at] as string).isConcurrent = limit.concurrent !== null;
      });
    try {
      return await this.common.ask(question, keys);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return null;
    }
  }

  /** Divides scopes by partition. A model has one of its own in a cluster, and is asked last: after the limits of the caller. */
  private divide(scopes: readonly LimitScope[]): readonly (readonly LimitScope[])[] {
    const parts = new Map<number, LimitScope[]>();
    for (const scope of scopes) {
      const partition = this.options.redis.partitionOf(keyOf(this.prefix, scope));
      const part = parts.get(partition);
      if (part === undefined) parts.set(partition, [scope]);
      else part.push(scope);
    }
    return [...parts.values()];
  }

  private admitShare(request: LimitRequest, now: number): LimitDecision {
    const decision = this.local.admit(request, now);
    if (decision.kind === "admitted") {
      const scopes = describeScopes(this.prefix, request.scopes);
      this.owe(scopes, now);
      const counted = scopes.map((scope) => ({ ...scope, remembered: {} }));
      this.begin(request.id, { scopes: counted, isInRedis: false }, now);
    }
    return decision;
  }

  private begin(id: string, running: Omit<Running, "expiresAt">, now: number): void {
    this.admitted.set(id, { ...running, expiresAt: now + this.options.leaseMs });
    for (const { key, isConcurrent } of running.scopes) {
      if (!isConcurrent) continue;
      const scope = this.common.counts.use(key);
      scope.isConcurrent = true;
      scope.running += 1;
      if (running.isInRedis) continue;
      scope.mustCarry = true;
      this.common.touch(key);
    }
  }

  private end(id: string): Running | null {
    const running = this.admitted.get(id);
    if (running === undefined) return null;
    this.admitted.delete(id);
    for (const { key, isConcurrent } of running.scopes) {
      if (!isConcurrent) continue;
      const scope = this.common.counts.use(key);
      scope.running = Math.max(0, scope.running - 1);
      scope.ended += 1;
      this.common.touch(key);
    }
    return running;
  }

  /** Ends generations that were never settled. */
  private expire(now: number): void {
    for (const [id, { expiresAt }] of this.admitted) {
      if (expiresAt > now) return;
      this.end(id);
    }
  }

  /** Remembers the counts in Redis, in case they are lost there. */
  private remember(scopes: readonly CountedScope[], now: number): readonly CountedHere[] {
    return scopes.map((scope) => {
      const own = this.common.counts.use(scope.key);
      const remembered: Partial<Record<WindowName, AddedAmount>> = {};
      for (const { window, amount } of scope.amounts)
        if (amount > 0) remembered[window] = own.add(window, amount, now);
      return { ...scope, remembered };
    });
  }

  /** Remembers requests that Redis has not counted. Their tokens are known when they end. */
  private owe(scopes: readonly CountedScope[], now: number): void {
    for (const { key, amounts } of scopes)
      for (const { window } of amounts) if (window !== "t") this.oweIn(key, window, 1, now);
  }

  private oweIn(key: string, window: WindowName, amount: number, now: number): void {
    this.common.counts.use(key).owe(window, amount, now);
    this.common.touch(key);
  }

  private correct(
    key: string,
    {
      window,
      slice,
      difference,
      remembered,
    }: CountedAmount & { readonly difference: number } & Pick<CountedHere, "remembered">,
  ): void {
    if (difference === 0) return;
    remembered[window]?.correct(difference);
    this.common.correct(key, ["correct", window, slice, difference]);
  }

  /** Takes back the counts of a generation that did not run. */
  private undo({ scopes, isInRedis }: Omit<Running, "expiresAt">): void {
    // Owed counts stay in their window.
    if (!isInRedis) return;
    for (const { key, amounts, remembered } of scopes) {
      for (const amount of amounts)
        if (amount.amount > 0) this.correct(key, { ...amount, difference: -amount.amount, remembered });
      this.common.touch(key);
    }
  }

  /** Takes back what one server has counted for a request that another server rejected. */
  private undoCounted(counted: readonly CountedScope[], wasRunning: boolean): void {
    this.undo({ scopes: counted.map((scope) => ({ ...scope, remembered: {} })), isInRedis: true });
    for (const { key, isConcurrent } of counted)
      if (wasRunning && isConcurrent) {
        this.common.counts.use(key).ended += 1;
        this.common.touch(key);
      }
  }
}

/** Joins the answers of several servers to the parts of one question. */
function join(answers: readonly LimitAnswer[]): LimitAnswer {
  return {
    rejection: null,
    limitStatus: {
      requests: tightest(answers.map(({ limitStatus }) => limitStatus.requests)),
      tokens: tightest(answers.map(({ limitStatus }) => limitStatus.tokens)),
    },
    counted: answers.flatMap(({ counted }) => counted),
  };
}
