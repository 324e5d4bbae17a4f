import { BoundedMap } from "../../base/collections/bounded-map.ts";
import { PassingMap } from "../../base/collections/passing-map.ts";
import type { MemoryRateLimiter } from "./memory-rate-limiter.ts";
import type {
  LimitDecision,
  LimitRequest,
  LimitScope,
  RateLimiter,
  RateLimitStatus,
} from "./rate-limiter.ts";

/** The maximum number of keys and callers whose use is remembered. Those that used tokens longest ago are forgotten first. */
const MAX_CALLERS = 50_000;
/** How fast the mean and the mean deviation follow the last request. */
const MEAN_SHARE = 1 / 8;
const DEVIATION_SHARE = 1 / 4;
/** By how many mean deviations more than the mean is expected. */
const DEVIATIONS = 2;
/** The expected use of a caller is at least this share of what is expected of an unknown one, because the next answer may be longer. */
const MIN_SHARE = 1 / 16;

/** The tokens that the last requests of a caller used in addition to the estimated tokens of their prompts. */
interface Use {
  mean: number;
  deviation: number;
}

/** A running generation whose tokens are limited. */
interface Running {
  readonly caller: string;
  readonly promptTokens: number;
}

/**
 * A rate limiter that learns how many tokens the requests of each key use. For a request without a stated bound it reserves that many in
 * the inner limiter. Each process learns from the requests that it has served itself.
 */
export class LearningRateLimiter implements RateLimiter {
  private readonly uses = new BoundedMap<string, Use>({ max: MAX_CALLERS });
  /** By generation. */
  private readonly started = new PassingMap<string, Running>();

  constructor(private readonly inner: RateLimiter | MemoryRateLimiter) {}

  get running(): number {
    return this.inner.running;
  }

  async admit(request: LimitRequest, now: number): Promise<LimitDecision> {
    const first = request.scopes[0];
    if (first === undefined || !hasTokenLimit(request.scopes)) return this.inner.admit(request, now);
    const caller = `${first.source} ${first.id}`;
    const decision = await this.inner.admit(this.complete(request, caller), now);
    const { id, promptTokens } = request;
    if (decision.kind === "admitted") this.started.set(id, { caller, promptTokens });
    return decision;
  }

  async count(scopes: readonly LimitScope[], now: number): Promise<LimitDecision> {
    return this.inner.count(scopes, now);
  }

  async peek(scopes: readonly LimitScope[], now: number): Promise<RateLimitStatus> {
    return this.inner.peek(scopes, now);
  }

  settle(id: string, tokens: number): void {
    this.inner.settle(id, tokens);
    const running = this.started.get(id);
    if (running === undefined) return;
    this.started.delete(id);
    // A failed generation says nothing about the size of answers.
    if (tokens > 0) this.learn(running.caller, Math.max(0, tokens - running.promptTokens));
  }

  cancel(id: string): void {
    this.inner.cancel(id);
    this.started.delete(id);
  }

  restore(scope: LimitScope, at: number): void {
    this.inner.restore(scope, at);
  }

  /** Returns a request with the tokens that are expected of its caller. */
  private complete(request: LimitRequest, caller: string): LimitRequest {
    const { completionTokens, expectedTokens = completionTokens, isBounded } = request;
    const use = this.uses.get(caller);
    const learned = use === undefined ? expectedTokens : Math.ceil(use.mean + DEVIATIONS * use.deviation);
    const expected = Math.max(learned, Math.ceil(expectedTokens * MIN_SHARE));
    if (isBounded === false) return { ...request, completionTokens: expected, expectedTokens: expected };
    return { ...request, expectedTokens: Math.min(completionTokens, expected) };
  }

  private learn(caller: string, tokens: number): void {
    const use = this.uses.touch(caller);
    if (use === undefined) {
      this.uses.set(caller, { mean: tokens, deviation: tokens / 2 });
      return;
    }
    const difference = tokens - use.mean;
    use.mean += MEAN_SHARE * difference;
    use.deviation += DEVIATION_SHARE * (Math.abs(difference) - use.deviation);
  }
}

function hasTokenLimit(scopes: readonly LimitScope[]): boolean {
  for (const { limit } of scopes) if (limit.tokensPerMinute !== null) return true;
  return false;
}
