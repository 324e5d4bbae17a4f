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
  /** What this process may admit of the scope's limits: all of them, or its share. */
  readonly share: LimitScope;
  readonly meter: Meter;
}

/** The advised wait for a concurrency limit, because the end of running requests is unknown. */
const CONCURRENT_RETRY_MS = 1_000;

/** Finds the limit of a scope that a request exceeds. `request` is null for one that uses no tokens and ends at once. */
export function findRejection(
  { scope, share, meter }: Measured,
  request: LimitRequest | null,
  now: number,
): LimitRejection | null {
  const { requestsPerMinute, tokensPerMinute, concurrent } = share.limit;
  const reject = (
    kind: LimitRejection["kind"],
    retryAfterMs: number,
    isTooLarge = false,
  ): LimitRejection => ({
    source: scope.source,
    kind,
    limit: limitOf(scope, kind),
    retryAfterMs,
    isTooLarge,
  });
  if (request !== null && concurrent !== null && meter.running >= concurrent)
    return reject("concurrent", CONCURRENT_RETRY_MS);
  const minuteMs = findWait(meter.perMinute, requestsPerMinute, 1, now);
  if (minuteMs !== null) return reject("requests_per_minute", minuteMs);
  const hourMs = findWait(meter.perHour, share.requestsPerHour ?? null, 1, now);
  if (hourMs !== null) return reject("requests_per_hour", hourMs);
  if (request === null || tokensPerMinute === null) return null;
  const least = leastTokens(request);
  if (least > limitOf(scope, "tokens_per_minute")) return reject("tokens_per_minute", MINUTE_MS, true);
  const tokensMs = findWait(meter.tokens, tokensPerMinute, least, now);
  return tokensMs === null ? null : reject("tokens_per_minute", tokensMs);
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
 * Returns how many of the tokens that are left are reserved for a request: its prompt and the bound of its answers. Many clients
 * set no bound, or one far too high, so a request that does not fit reserves half of what is left and further requests fit too.
 * The tokens that it really used are known when it ends.
 */
export function tokensToReserve(request: LimitRequest, left: number): number {
  const wanted = request.promptTokens + request.completionTokens;
  return wanted <= left ? wanted : Math.max(leastTokens(request), Math.floor(left / 2));
}

/** The prompt, and one token of the answer. */
export function leastTokens({ promptTokens, completionTokens }: LimitRequest): number {
  return promptTokens + Math.min(1, completionTokens);
}

/** Returns the tightest limits of some scopes. */
export function statusOf(measured: readonly Measured[], now: number): RateLimitStatus {
  const requests: (LimitVerdict | null)[] = [];
  const tokens: (LimitVerdict | null)[] = [];
  for (const { scope, share, meter } of measured) {
    const { requestsPerMinute, tokensPerMinute } = scope.limit;
    const [perMinute, perHour] = [share.limit.requestsPerMinute, share.requestsPerHour ?? null];
    requests.push(verdictOf(meter.perMinute, { limit: requestsPerMinute, share: perMinute }, now));
    requests.push(verdictOf(meter.perHour, { limit: scope.requestsPerHour ?? null, share: perHour }, now));
    tokens.push(verdictOf(meter.tokens, { limit: tokensPerMinute, share: share.limit.tokensPerMinute }, now));
  }
  return { requests: tightest(requests), tokens: tightest(tokens) };
}

function verdictOf(
  window: SlidingSum | null,
  { limit, share }: { readonly limit: number | null; readonly share: number | null },
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

/** Returns the verdict with the least remaining, the first one among equals; null if there is none. */
export function tightest(verdicts: readonly (LimitVerdict | null)[]): LimitVerdict | null {
  let found: LimitVerdict | null = null;
  for (const verdict of verdicts) {
    if (verdict !== null && (found === null || verdict.remaining < found.remaining)) found = verdict;
  }
  return found;
}
