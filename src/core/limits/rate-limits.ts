import type { RateLimit } from "../accounts/rate-limit.ts";
import { type Counted, createMeteredWindow, type MeteredWindow } from "./metered-window.ts";
import type { LimitVerdict } from "./sliding-window.ts";

/** Whose limit it is, in the words of `metadata.limit_source`: a model's is the gateway's own. */
export type LimitSource = "key" | "account" | "gateway";

/** Somebody that a request is counted for, and what they may use. */
export interface LimitScope {
  readonly source: LimitSource;
  readonly id: string;
  readonly limit: RateLimit;
}

/** A request that wants to be let in. */
export interface LimitRequest {
  /** The generation's id. */
  readonly id: string;
  readonly scopes: readonly LimitScope[];
  /** About how many tokens its prompt has. */
  readonly promptTokens: number;
  /** How many tokens its answers may have, or are expected to have where it does not say. */
  readonly completionTokens: number;
}

/** How the tightest limits that apply stand; null where there is none of that kind. */
export interface RateLimitStatus {
  readonly requests: LimitVerdict | null;
  readonly tokens: LimitVerdict | null;
}

/** A limit that is in the way. */
export interface LimitRejection {
  readonly source: LimitSource;
  readonly kind: "requests_per_minute" | "tokens_per_minute" | "concurrent";
  readonly limit: number;
  /** Until it may be worth another try. */
  readonly retryAfterMs: number;
  /** The prompt alone is more than the limit: waiting does not help. */
  readonly isTooLarge: boolean;
}

/** Whether a request was let in. `standing` is how its limits stand after it, or with it left out. */
export type LimitAnswer =
  | { readonly kind: "counted"; readonly limitStatus: RateLimitStatus }
  | { readonly kind: "refused"; readonly refusal: LimitRejection; readonly limitStatus: RateLimitStatus };

/**
 * Counts requests by key, account and model, in the memory of this process. Letting one in looks at every limit that
 * applies and counts it in all of them or in none. A limit may differ from one request to the next: what was counted stays.
 */
export interface RateLimits {
  /** Counts a request, or says what is in the way. */
  admit(wish: LimitRequest, now: number): LimitAnswer;
  /** Counts a request that uses no tokens and is over at once, or says what is in the way. */
  countRequest(scopes: readonly LimitScope[], now: number): LimitAnswer;
  /** How the limits stand, counting nothing. */
  peek(scopes: readonly LimitScope[], now: number): RateLimitStatus;
  /** The generation is over and has used so many tokens. Without `admit` before it nothing happens. */
  settle(id: string, tokens: number): void;
  /** The request came to nothing before it ran: it is as if it had never been counted. */
  giveBack(id: string): void;
  /** Requests that are under way as far as the limits know. */
  readonly running: number;
}

/** What limits are made of. */
export interface RateLimitOptions {
  /** After which a request counts as over, whatever happened to it: longer than any may take. */
  readonly leaseMs: number;
  /** Keys, accounts and models that are counted at once; past it the one that was quiet longest is forgotten. */
  readonly maxMeters?: number;
}

const MINUTE_MS = 60_000;
const MAX_METERS = 100_000;
/** Nobody knows when the next of the requests under way ends. */
const CONCURRENT_RETRY_MS = 1_000;

/** What was counted for one subject. A window is there once a limit has asked for it. */
interface Meter {
  requests: MeteredWindow | null;
  tokens: MeteredWindow | null;
  running: number;
}

/** A subject with its meter. */
interface Metered extends LimitScope {
  readonly meter: Meter;
}

interface Lease {
  readonly meters: readonly Meter[];
  readonly expiresAt: number;
  readonly requests: readonly Counted[];
  readonly tokens: readonly { readonly counted: Counted; readonly amount: number }[];
}

/** Limits, nothing counted yet. */
export function createRateLimits({ leaseMs, maxMeters = MAX_METERS }: RateLimitOptions): RateLimits {
  /** By source and id; the one used last stands last. */
  const meters = new Map<string, Meter>();
  /** By generation, the oldest first, and so the first to expire. */
  const leases = new Map<string, Lease>();

  const touch = (subject: LimitScope): Metered => {
    const name = nameOf(subject);
    const meter = openWindows(meters.get(name) ?? createMeter(), subject.limit);
    meters.delete(name);
    meters.set(name, meter);
    if (meters.size > maxMeters) forgetQuietest(meters);
    return { ...subject, meter };
  };

  const end = (id: string): Lease | null => {
    const lease = leases.get(id);
    if (lease === undefined) return null;
    leases.delete(id);
    for (const meter of lease.meters) meter.running -= 1;
    return lease;
  };

  const expire = (now: number): void => {
    for (const [id, lease] of leases) {
      if (lease.expiresAt > now) return;
      end(id);
    }
  };

  /** Counts what nobody refuses. */
  const decide = (
    scopes: readonly LimitScope[],
    now: number,
    findRefusal: (metered: Metered) => LimitRejection | null,
    count: (applying: readonly Metered[]) => void,
  ): LimitAnswer => {
    expire(now);
    const applying = scopes.map(touch);
    for (const metered of applying) {
      const refusal = findRefusal(metered);
      if (refusal !== null) return { kind: "refused", refusal, limitStatus: standingOf(applying, now) };
    }
    count(applying);
    return { kind: "counted", limitStatus: standingOf(applying, now) };
  };

  return {
    admit: (wish, now) =>
      decide(
        wish.scopes,
        now,
        (metered) => findRefusal(metered, wish, now),
        (applying) => void leases.set(wish.id, openLease(applying, wish, now, leaseMs)),
      ),
    countRequest: (scopes, now) =>
      decide(
        scopes,
        now,
        (metered) => refuseRequest(metered, now),
        (applying) => {
          for (const { meter } of applying) meter.requests?.count(1, now);
        },
      ),
    peek: (scopes, now) =>
      standingOf(
        scopes.map((subject) => ({ ...subject, meter: meters.get(nameOf(subject)) ?? createMeter() })),
        now,
      ),
    settle(id, used) {
      const lease = end(id);
      if (lease === null) return;
      for (const { counted, amount } of lease.tokens) counted.correct(used - amount);
    },
    giveBack(id) {
      const lease = end(id);
      if (lease === null) return;
      for (const counted of lease.requests) counted.correct(-1);
      for (const { counted, amount } of lease.tokens) counted.correct(-amount);
    },
    get running() {
      return leases.size;
    },
  };
}

function nameOf({ source, id }: LimitScope): string {
  return `${source}:${id}`;
}

function createMeter(): Meter {
  return { requests: null, tokens: null, running: 0 };
}

/** What no limit asks for is not counted. */
function openWindows(meter: Meter, { requestsPerMinute, tokensPerMinute }: RateLimit): Meter {
  if (requestsPerMinute !== null) meter.requests ??= createMeteredWindow(MINUTE_MS);
  if (tokensPerMinute !== null) meter.tokens ??= createMeteredWindow(MINUTE_MS);
  return meter;
}

/** Of those that have requests under way none is forgotten: they could not be ended. */
function forgetQuietest(meters: Map<string, Meter>): void {
  for (const [name, meter] of meters) {
    if (meter.running > 0) continue;
    meters.delete(name);
    return;
  }
}

/**
 * What a request takes of the tokens that are left: its prompt and its answer's bound. Many clients leave the bound out, or set
 * it far too high: one that does not fit takes half of what is left, so that further requests fit as well. What was
 * really used is known at the end.
 */
function reserveTokens(wish: LimitRequest, left: number): number {
  const wanted = wish.promptTokens + wish.completionTokens;
  return wanted <= left ? wanted : Math.max(leastTokens(wish), Math.floor(left / 2));
}

/** The prompt, and a token of the answer. */
function leastTokens({ promptTokens, completionTokens }: LimitRequest): number {
  return promptTokens + Math.min(1, completionTokens);
}

function findRefusal(metered: Metered, wish: LimitRequest, now: number): LimitRejection | null {
  const { source, limit, meter } = metered;
  if (limit.concurrent !== null && meter.running >= limit.concurrent)
    return refusalOf(source, "concurrent", limit.concurrent, CONCURRENT_RETRY_MS);
  return refuseRequest(metered, now) ?? refuseTokens(metered, wish, now);
}

function refuseRequest({ source, limit, meter }: Metered, now: number): LimitRejection | null {
  const { requestsPerMinute: most } = limit;
  if (most === null || meter.requests === null) return null;
  const waitMs = meter.requests.waitUntil(most - 1, now);
  return waitMs > 0 ? refusalOf(source, "requests_per_minute", most, waitMs) : null;
}

function refuseTokens(
  { source, limit, meter }: Metered,
  wish: LimitRequest,
  now: number,
): LimitRejection | null {
  const { tokensPerMinute: most } = limit;
  if (most === null || meter.tokens === null) return null;
  const amount = leastTokens(wish);
  if (amount > most) return refusalOf(source, "tokens_per_minute", most, MINUTE_MS, true);
  const waitMs = meter.tokens.waitUntil(most - amount, now);
  return waitMs > 0 ? refusalOf(source, "tokens_per_minute", most, waitMs) : null;
}

function refusalOf(
  source: LimitSource,
  kind: LimitRejection["kind"],
  limit: number,
  retryAfterMs: number,
  isTooLarge = false,
): LimitRejection {
  return { source, kind, limit, retryAfterMs, isTooLarge };
}

function openLease(applying: readonly Metered[], wish: LimitRequest, now: number, leaseMs: number): Lease {
  const requests: Counted[] = [];
  const tokens: { counted: Counted; amount: number }[] = [];
  for (const { meter, limit } of applying) {
    meter.running += 1;
    if (limit.requestsPerMinute !== null && meter.requests !== null)
      requests.push(meter.requests.count(1, now));
    if (limit.tokensPerMinute === null || meter.tokens === null) continue;
    const amount = reserveTokens(wish, limit.tokensPerMinute - meter.tokens.sum(now));
    tokens.push({ counted: meter.tokens.count(amount, now), amount });
  }
  return { meters: applying.map(({ meter }) => meter), expiresAt: now + leaseMs, requests, tokens };
}

function standingOf(applying: readonly Metered[], now: number): RateLimitStatus {
  return {
    requests: tightest(
      applying.map(({ meter, limit }) => judge(meter.requests, limit.requestsPerMinute, now)),
    ),
    tokens: tightest(applying.map(({ meter, limit }) => judge(meter.tokens, limit.tokensPerMinute, now))),
  };
}

function judge(window: MeteredWindow | null, limit: number | null, now: number): LimitVerdict | null {
  if (limit === null) return null;
  const remaining = Math.max(0, limit - (window?.sum(now) ?? 0));
  return {
    allowed: remaining > 0,
    limit,
    remaining,
    resetMs: window?.waitUntil(0, now) ?? 0,
    retryAfterMs: window?.waitUntil(limit - 1, now) ?? 0,
  };
}

/** The one with the least left, of those that there are. */
export function tightest(verdicts: readonly (LimitVerdict | null)[]): LimitVerdict | null {
  let found: LimitVerdict | null = null;
  for (const verdict of verdicts) {
    if (verdict !== null && (found === null || verdict.remaining < found.remaining)) found = verdict;
  }
  return found;
}
