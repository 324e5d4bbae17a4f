import type { AddedAmount, SlidingSum } from "../../base/sliding-sum.ts";
import { MINUTE_MS } from "../../base/time.ts";
import type {
  LimitRejection,
  LimitRequest,
  LimitScope,
  LimitVerdict,
  RateLimitStatus,
} from "./rate-limiter.ts";

/** What was counted for one scope. A window exists once a limit needs it. */
export class Meter {
  perMinute: SlidingSum | null = null;
  perHour: SlidingSum | null = null;
  tokens: SlidingSum | null = null;
  running = 0;

  countRequest(now: number): AddedAmount[] {
    const added: AddedAmount[] = [];
    if (this.perMinute !== null) added.push(this.perMinute.add(1, now));
    if (this.perHour !== null) added.push(this.perHour.add(1, now));
    return added;
  }
}

/** A scope with its meter. */
export interface Measured {
  readonly scope: LimitScope;
  readonly meter: Meter;
}

/** The advised wait for a concurrency limit, because the end of running requests is unknown. */
const CONCURRENT_RETRY_MS = 1_000;

/** Finds the limit of a scope that a request exceeds. `request` is null for one that uses no tokens and ends at once. */
export function findRejection(
  { scope, meter }: Measured,
  request: LimitRequest | null,
  now: number,
): LimitRejection | null {
  const { requestsPerMinute, tokensPerMinute, concurrent } = scope.limit;
  const reject = (kind: LimitRejection["kind"], limit: number, retryAfterMs: number): LimitRejection => ({
    source: scope.source,
    kind,
    limit,
    retryAfterMs,
    isTooLarge: false,
  });
  if (request !== null && concurrent !== null && meter.running >= concurrent)
    return reject("concurrent", concurrent, CONCURRENT_RETRY_MS);
  const minute = findWait(meter.perMinute, requestsPerMinute, 1, now);
  if (minute !== null) return reject("requests_per_minute", minute.limit, minute.waitMs);
  const hour = findWait(meter.perHour, scope.requestsPerHour ?? null, 1, now);
  if (hour !== null) return reject("requests_per_hour", hour.limit, hour.waitMs);
  if (request === null || tokensPerMinute === null) return null;
  const least = leastTokens(request);
  if (least > tokensPerMinute)
    return { ...reject("tokens_per_minute", tokensPerMinute, MINUTE_MS), isTooLarge: true };
  const tokens = findWait(meter.tokens, tokensPerMinute, least, now);
  return tokens === null ? null : reject("tokens_per_minute", tokens.limit, tokens.waitMs);
}

/** Returns how long an amount must wait for room below a limit; null if there is room, or no limit. */
function findWait(
  window: SlidingSum | null,
  limit: number | null,
  amount: number,
  now: number,
): { readonly limit: number; readonly waitMs: number } | null {
  if (window === null || limit === null || window.at(now) + amount <= limit) return null;
  return { limit, waitMs: window.waitUntil(limit - amount, now) };
}

/**
 * Returns how many of the tokens that are left are reserved for a request: its prompt and the bound of its answers. Many clients
 * set no bound, or one far too high, so a request that does not fit reserves half of what is left and further requests fit too.
 * The tokens that it really used are known when it ends.
 */
export function tokensToReserve(request: LimitRequest, left: number): number {
  const wanted = request.promptTokens + request.completionTokens;
  return wanted <= left ? wanted : Math.max(leastTokens(request), Math.floor(left / 2));
}

/** The prompt, and one token of the answer. */
function leastTokens({ promptTokens, completionTokens }: LimitRequest): number {
  return promptTokens + Math.min(1, completionTokens);
}

/** Returns the tightest limits of some scopes. */
export function statusOf(measured: readonly Measured[], now: number): RateLimitStatus {
  const requests: (LimitVerdict | null)[] = [];
  const tokens: (LimitVerdict | null)[] = [];
  for (const { scope, meter } of measured) {
    requests.push(verdictOf(meter.perMinute, scope.limit.requestsPerMinute, now));
    requests.push(verdictOf(meter.perHour, scope.requestsPerHour ?? null, now));
    tokens.push(verdictOf(meter.tokens, scope.limit.tokensPerMinute, now));
  }
  return { requests: tightest(requests), tokens: tightest(tokens) };
}

function verdictOf(window: SlidingSum | null, limit: number | null, now: number): LimitVerdict | null {
  if (limit === null) return null;
  const remaining = Math.max(0, limit - (window?.at(now) ?? 0));
  return {
    allowed: remaining > 0,
    limit,
    remaining,
    resetMs: window?.waitUntil(0, now) ?? 0,
    retryAfterMs: window?.waitUntil(limit - 1, now) ?? 0,
  };
}

/** Returns the verdict with the least remaining, the first one among equals; null if there is none. */
export function tightest(verdicts: readonly (LimitVerdict | null)[]): LimitVerdict | null {
  let found: LimitVerdict | null = null;
  for (const verdict of verdicts) {
    if (verdict !== null && (found === null || verdict.remaining < found.remaining)) found = verdict;
  }
  return found;
}
