import type { AddedAmount, SlidingSum } from "../../base/numbers/sliding-sum.ts";
import { MINUTE_MS } from "../../base/time/time.ts";
import type {
  LimitRejection,
  LimitRequest,
  LimitScope,
  LimitVerdict,
  RateLimitStatus,
} from "./rate-limiter.ts";

/** The counts of one scope. A window exists once a limit needs it. */
export class Meter {
  perMinute: SlidingSum | null = null;
  perHour: SlidingSum | null = null;
  tokens: SlidingSum | null = null;
  running = 0;

  /** Counts a request, and `tokens` unless they are null. */
  count(tokens: number | null, now: number): Counted {
    return {
      meter: this,
      perMinute: this.perMinute?.add(1, now) ?? null,
      perHour: this.perHour?.add(1, now) ?? null,
      tokens: tokens === null ? null : (this.tokens?.add(tokens, now) ?? null),
      reserved: tokens ?? 0,
    };
  }
}

/** The amounts that one request added to the windows of a meter; null for a window that does not exist. */
export interface Counted {
  readonly meter: Meter;
  readonly perMinute: AddedAmount | null;
  readonly perHour: AddedAmount | null;
  readonly tokens: AddedAmount | null;
  /** The amount of `tokens`. */
  readonly reserved: number;
}

/** A scope with its meter. */
export interface Measured {
  readonly scope: LimitScope;
  /** The limits that this process may admit: those of the scope, or its share of them. */
  readonly share: LimitScope;
  readonly meter: Meter;
}

/** The advised wait for a concurrency limit, because the end of running requests is unknown. */
const CONCURRENT_RETRY_MS = 1_000;

/** Finds the limit of a scope that a request exceeds. `request` is null for a request that uses no tokens and ends immediately. */
export function findRejection(
  { scope, share, meter }: Measured,
  request: LimitRequest | null,
  now: number,
): LimitRejection | null {
  const { requestsPerMinute, tokensPerMinute, concurrent } = share.limit;
  if (request !== null && concurrent !== null && meter.running >= concurrent)
    return reject(scope, "concurrent", CONCURRENT_RETRY_MS);
  const minuteMs = findWait(meter.perMinute, requestsPerMinute, 1, now);
  if (minuteMs !== null) return reject(scope, "requests_per_minute", minuteMs);
  const hourMs = findWait(meter.perHour, share.requestsPerHour ?? null, 1, now);
  if (hourMs !== null) return reject(scope, "requests_per_hour", hourMs);
  if (request === null || tokensPerMinute === null) return null;
  if (leastTokens(request) > limitOf(scope, "tokens_per_minute"))
    return { ...reject(scope, "tokens_per_minute", MINUTE_MS), isTooLarge: true };
  const tokensMs = findWait(meter.tokens, tokensPerMinute, tokensToFit(request, tokensPerMinute), now);
  return tokensMs === null ? null : reject(scope, "tokens_per_minute", tokensMs);
}

function reject(scope: LimitScope, kind: LimitRejection["kind"], retryAfterMs: number): LimitRejection {
  return { source: scope.source, kind, limit: limitOf(scope, kind), retryAfterMs, isTooLarge: false };
}

/** Returns the limit of a kind; 0 if the scope has none. */
function limitOf({ limit, requestsPerHour }: LimitScope, kind: LimitRejection["kind"]): number {
  switch (kind) {
    case "concurrent":
      return limit.concurrent ?? 0;
    case "requests_per_minute":
      return limit.requestsPerMinute ?? 0;
    case "requests_per_hour":
      return requestsPerHour ?? 0;
    case "tokens_per_minute":
      return limit.tokensPerMinute ?? 0;
  }
}

/** Returns how long an amount must wait for room below a limit, in milliseconds; null if there is room, or no limit. */
function findWait(
  window: SlidingSum | null,
  limit: number | null,
  amount: number,
  now: number,
): number | null {
  if (window === null || limit === null || window.at(now) + amount <= limit) return null;
  return window.waitUntil(limit - amount, now);
}

/**
 * Returns how many tokens a request reserves of a limit: those of its prompt and the bound of its answers, so that it never uses more. If
 * the bound is far beyond the limit, the expected use is reserved instead.
 */
export function tokensToReserve(
  { promptTokens, completionTokens, expectedTokens = completionTokens }: LimitRequest,
  limit: number,
): number {
  const whole = promptTokens + completionTokens;
  return whole <= limit ? whole : promptTokens + Math.min(completionTokens, expectedTokens);
}

/**
 * Returns how many tokens of a limit must be left for a request. A request that reserves more than the limit needs all of it. A prompt that
 * is larger than this process's share of the limit never fits.
 */
function tokensToFit(request: LimitRequest, limit: number): number {
  return Math.max(leastTokens(request), Math.min(limit, tokensToReserve(request, limit)));
}

/** The prompt, and one token of the answer. */
export function leastTokens({ promptTokens, completionTokens }: LimitRequest): number {
  return promptTokens + Math.min(1, completionTokens);
}

/** Returns the tightest limits of some scopes. */
export function statusOf(measured: readonly Measured[], now: number): RateLimitStatus {
  let requests: LimitVerdict | null = null;
  let tokens: LimitVerdict | null = null;
  for (const { scope, share, meter } of measured) {
    const { requestsPerMinute, tokensPerMinute } = scope.limit;
    const { limit, requestsPerHour = null } = share;
    const perHour = scope.requestsPerHour ?? null;
    requests = tighter(requests, verdictOf(meter.perMinute, requestsPerMinute, limit.requestsPerMinute, now));
    requests = tighter(requests, verdictOf(meter.perHour, perHour, requestsPerHour, now));
    tokens = tighter(tokens, verdictOf(meter.tokens, tokensPerMinute, limit.tokensPerMinute, now));
  }
  return { requests, tokens };
}

function verdictOf(
  window: SlidingSum | null,
  limit: number | null,
  share: number | null,
  now: number,
): LimitVerdict | null {
  if (limit === null || share === null) return null;
  const remaining = Math.max(0, share - (window?.at(now) ?? 0));
  return {
    allowed: remaining > 0,
    limit,
    remaining,
    resetMs: window?.waitUntil(0, now) ?? 0,
    retryAfterMs: window?.waitUntil(share - 1, now) ?? 0,
  };
}

/** Returns the verdict with the least remaining, the first one if several are equal; null if there is none. */
export function tightest(verdicts: readonly (LimitVerdict | null)[]): LimitVerdict | null {
  return verdicts.reduce(tighter, null);
}

function tighter(one: LimitVerdict | null, other: LimitVerdict | null): LimitVerdict | null {
  if (one === null || other === null) return one ?? other;
  return other.remaining < one.remaining ? other : one;
}
