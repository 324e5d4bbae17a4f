import { type Counted, createMeteredWindow, type MeteredWindow } from "./metered-window.ts";
import type { LimitVerdict } from "./sliding-window.ts";

/** What one key, account or model may use; null: no limit. */
export interface RateLimit {
  readonly requestsPerMinute: number | null;
  /** Of prompt and answer together. */
  readonly tokensPerMinute: number | null;
  /** Requests at once. */
  readonly concurrent: number | null;
}

/** Whose limit it is, in the words of `metadata.limit_source`: a model's is the gateway's own. */
export type LimitSource = "key" | "account" | "gateway";

/** Whom a request is counted for, by id; a model that is not known yet is null. */
export interface LimitSubjects {
  readonly key: string | null;
  readonly account: string | null;
  readonly gateway: string | null;
}

/** A request that wants to be let in. */
export interface LimitWish {
  /** The generation's id. */
  readonly id: string;
  readonly subjects: LimitSubjects;
  /** About how many tokens its prompt has. */
  readonly promptTokens: number;
  /** At most how many tokens it may produce. */
  readonly completionTokens: number;
}

/** How the tightest limits that apply stand; null where there is none of that kind. */
export interface LimitStanding {
  readonly requests: LimitVerdict | null;
  readonly tokens: LimitVerdict | null;
}

/** A limit that is in the way. */
export interface LimitRefusal {
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
  | { readonly kind: "counted"; readonly standing: LimitStanding }
  | { readonly kind: "refused"; readonly refusal: LimitRefusal; readonly standing: LimitStanding };

/**
 * Counts requests by key, account and model, in the memory of this process. Letting one in looks at every limit that
 * applies and counts it in all of them or in none.
 */
export interface RateLimits {
  /** Counts a request, or says what is in the way. */
  admit(wish: LimitWish, now: number): LimitAnswer;
  /** How the limits stand, counting nothing. */
  peek(subjects: LimitSubjects, now: number): LimitStanding;
  /** The generation is over and has used so many tokens. Without `admit` before it nothing happens. */
  settle(id: string, tokens: number): void;
  /** The request came to nothing before it ran: it is as if it had never been counted. */
  giveBack(id: string): void;
  /** Requests that are under way as far as the limits know. */
  readonly running: number;
}

/** What limits are made of. */
export interface RateLimitOptions {
  readonly limits: Readonly<Record<LimitSource, RateLimit>>;
  /** After which a request counts as over, whatever happened to it: longer than any may take. */
  readonly leaseMs: number;
  /** Keys, accounts and models that are counted at once; past it the one that was quiet longest is forgotten. */
  readonly maxMeters?: number;
}

const MINUTE_MS = 60_000;
const MAX_METERS = 100_000;
/** Nobody knows when the next of the requests under way ends. */
const CONCURRENT_RETRY_MS = 1_000;

interface Meter {
  readonly source: LimitSource;
  readonly limit: RateLimit;
  readonly requests: MeteredWindow | null;
  readonly tokens: MeteredWindow | null;
  running: number;
}

interface Lease {
  readonly meters: readonly Meter[];
  readonly expiresAt: number;
  readonly requests: readonly Counted[];
  readonly tokens: readonly { readonly counted: Counted; readonly amount: number }[];
}

/** Whether a limit limits anything. */
export function isLimit(limit: RateLimit): boolean {
  return limit.requestsPerMinute !== null || limit.tokensPerMinute !== null || limit.concurrent !== null;
}

/** Limits, nothing counted yet. */
export function createRateLimits({ limits, leaseMs, maxMeters = MAX_METERS }: RateLimitOptions): RateLimits {
  const sources = (["key", "account", "gateway"] as const).filter((source) => isLimit(limits[source]));
  /** By source and id; the one used last stands last. */
  const meters = new Map<string, Meter>();
  /** By generation, the oldest first, and so the first to expire. */
  const leases = new Map<string, Lease>();

  const nameOf = (source: LimitSource, subjects: LimitSubjects): string | null =>
    subjects[source] === null ? null : `${source}:${subjects[source]}`;

  const touch = (source: LimitSource, name: string): Meter => {
    const meter = meters.get(name) ?? openMeter(source, limits[source]);
    meters.delete(name);
    meters.set(name, meter);
    if (meters.size > maxMeters) forgetQuietest(meters);
    return meter;
  };

  const metersOf = (subjects: LimitSubjects): Meter[] =>
    sources.flatMap((source) => {
      const name = nameOf(source, subjects);
      return name === null ? [] : touch(source, name);
    });

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

  return {
    admit(wish, now) {
      expire(now);
      const applying = metersOf(wish.subjects);
      for (const meter of applying) {
        const refusal = findRefusal(meter, wish, now);
        if (refusal !== null) return { kind: "refused", refusal, standing: standingOf(applying, now) };
      }
      leases.set(wish.id, openLease(applying, wish, now, leaseMs));
      return { kind: "counted", standing: standingOf(applying, now) };
    },
    peek(subjects, now) {
      const known = sources.flatMap((source) => {
        const name = nameOf(source, subjects);
        return name === null ? [] : (meters.get(name) ?? openMeter(source, limits[source]));
      });
      return standingOf(known, now);
    },
    settle(id, used) {
      const lease = end(id);
      for (const { counted, amount } of lease?.tokens ?? []) counted.correct(used - amount);
    },
    giveBack(id) {
      const lease = end(id);
      for (const counted of lease?.requests ?? []) counted.correct(-1);
      for (const { counted, amount } of lease?.tokens ?? []) counted.correct(-amount);
    },
    get running() {
      return leases.size;
    },
  };
}

function openMeter(source: LimitSource, limit: RateLimit): Meter {
  return {
    source,
    limit,
    requests: limit.requestsPerMinute === null ? null : createMeteredWindow(MINUTE_MS),
    tokens: limit.tokensPerMinute === null ? null : createMeteredWindow(MINUTE_MS),
    running: 0,
  };
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
 * What a request takes of a limit on tokens: its prompt and its answer's bound, which many clients leave out or set far too
 * high, so it may be lowered to the limit itself. What was really used is known at the end.
 */
function tokensOf({ promptTokens, completionTokens }: LimitWish, limit: number): number {
  return Math.max(promptTokens, Math.min(promptTokens + completionTokens, limit));
}

function findRefusal({ source, limit, requests, tokens, running }: Meter, wish: LimitWish, now: number) {
  const refuse = (kind: LimitRefusal["kind"], most: number, retryAfterMs: number, isTooLarge = false) =>
    ({ source, kind, limit: most, retryAfterMs, isTooLarge }) satisfies LimitRefusal;
  const { requestsPerMinute, tokensPerMinute, concurrent } = limit;
  if (concurrent !== null && running >= concurrent)
    return refuse("concurrent", concurrent, CONCURRENT_RETRY_MS);
  if (requests !== null && requestsPerMinute !== null) {
    const waitMs = requests.waitUntil(requestsPerMinute - 1, now);
    if (waitMs > 0) return refuse("requests_per_minute", requestsPerMinute, waitMs);
  }
  if (tokens !== null && tokensPerMinute !== null) {
    const amount = tokensOf(wish, tokensPerMinute);
    if (amount > tokensPerMinute) return refuse("tokens_per_minute", tokensPerMinute, MINUTE_MS, true);
    const waitMs = tokens.waitUntil(tokensPerMinute - amount, now);
    if (waitMs > 0) return refuse("tokens_per_minute", tokensPerMinute, waitMs);
  }
  return null;
}

function openLease(meters: readonly Meter[], wish: LimitWish, now: number, leaseMs: number): Lease {
  const requests: Counted[] = [];
  const tokens: { counted: Counted; amount: number }[] = [];
  for (const meter of meters) {
    meter.running += 1;
    if (meter.requests !== null) requests.push(meter.requests.count(1, now));
    if (meter.tokens === null) continue;
    const amount = tokensOf(wish, meter.limit.tokensPerMinute ?? 0);
    tokens.push({ counted: meter.tokens.count(amount, now), amount });
  }
  return { meters, expiresAt: now + leaseMs, requests, tokens };
}

function standingOf(meters: readonly Meter[], now: number): LimitStanding {
  return {
    requests: tightest(meters.map(({ requests, limit }) => judge(requests, limit.requestsPerMinute, now))),
    tokens: tightest(meters.map(({ tokens, limit }) => judge(tokens, limit.tokensPerMinute, now))),
  };
}

function judge(window: MeteredWindow | null, limit: number | null, now: number): LimitVerdict | null {
  if (window === null || limit === null) return null;
  const remaining = Math.max(0, limit - window.sum(now));
  return {
    allowed: remaining > 0,
    limit,
    remaining,
    resetMs: window.waitUntil(0, now),
    retryAfterMs: window.waitUntil(limit - 1, now),
  };
}

function tightest(verdicts: readonly (LimitVerdict | null)[]): LimitVerdict | null {
  let found: LimitVerdict | null = null;
  for (const verdict of verdicts) {
    if (verdict !== null && (found === null || verdict.remaining < found.remaining)) found = verdict;
  }
  return found;
}
