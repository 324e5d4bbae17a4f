import { BoundedMap } from "../../base/collections/bounded-map.ts";
import { PassingMap } from "../../base/collections/passing-map.ts";
import { SlidingSum } from "../../base/numbers/sliding-sum.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time/time.ts";
import { type Counted, findRejection, type Measured, Meter, statusOf, tokensToReserve } from "./meter.ts";
import type {
  LimitDecision,
  LimitRejection,
  LimitRequest,
  LimitScope,
  LimitSource,
  RateLimitStatus,
} from "./rate-limiter.ts";

/** Settings of a rate limiter. */
interface RateLimiterOptions {
  /** Milliseconds after which a generation that was never settled stops counting as concurrent. Longer than any generation. */
  readonly leaseMs: number;
  /** The maximum number of scopes per source. Beyond it, the scope that was idle longest is evicted. */
  readonly maxScopes?: number;
  /** Defaults to all of the limits. */
  readonly shareOf?: ShareOf;
}

const MAX_SCOPES = 100_000;

/** The amounts counted for an admitted generation. */
interface Admission {
  readonly expiresAt: number;
  /** One for each scope. */
  readonly counted: readonly Counted[];
}

/** A scope with its meter, and when it was last used. */
interface KnownScope extends Measured {
  usedAt: number;
}

/** By how much the recency of a scope may lag. Milliseconds. */
const USED_MS = 1_000;

/** Returns what this process may admit of a scope's limits. */
type ShareOf = (scope: LimitScope) => LimitScope;

/**
 * A rate limiter in the memory of one process. It admits requests up to the limits, or up to its share of them. It has the methods of a
 * `RateLimiter`, but they are synchronous.
 */
export class MemoryRateLimiter {
  private readonly scopes: Readonly<Record<LimitSource, BoundedMap<string, KnownScope>>>;
  /** By generation, the oldest first, which is also the order in which they expire. */
  private readonly admissions = new PassingMap<string, Admission>();
  /** No admission expires before this time. */
  private expiresFrom = 0;
  private readonly leaseMs: number;
  private readonly shareOf: ShareOf | null;

  constructor({ leaseMs, maxScopes = MAX_SCOPES, shareOf }: RateLimiterOptions) {
    this.leaseMs = leaseMs;
    this.shareOf = shareOf ?? null;
    // A meter with concurrent requests is kept: they have to be subtracted from it.
    const createScopes = () =>
      new BoundedMap<string, KnownScope>({ max: maxScopes, mayEvict: ({ meter }) => meter.running === 0 });
    this.scopes = {
      key: createScopes(),
      team: createScopes(),
      account: createScopes(),
      gateway: createScopes(),
      anonymous: createScopes(),
      free_models: createScopes(),
    };
  }

  get running(): number {
    return this.admissions.size;
  }

  /** `shareOf` replaces the one of the options. */
  admit(request: LimitRequest, now: number, shareOf = this.shareOf): LimitDecision {
    this.expire(now);
    const measured = this.measureAll(request.scopes, now, shareOf);
    const rejection = findFirstRejection(measured, request, now);
    if (rejection !== null) return { kind: "rejected", rejection, limitStatus: statusOf(measured, now) };
    const counted: Counted[] = [];
    for (const one of measured) counted.push(reserve(one, request, now));
    this.admissions.set(request.id, { expiresAt: now + this.leaseMs, counted });
    return { kind: "admitted", limitStatus: statusOf(measured, now) };
  }

  /** `shareOf` replaces the one of the options. */
  count(scopes: readonly LimitScope[], now: number, shareOf = this.shareOf): LimitDecision {
    this.expire(now);
    const measured = this.measureAll(scopes, now, shareOf);
    const rejection = findFirstRejection(measured, null, now);
    if (rejection !== null) return { kind: "rejected", rejection, limitStatus: statusOf(measured, now) };
    for (const { meter } of measured) meter.count(null, now);
    return { kind: "admitted", limitStatus: statusOf(measured, now) };
  }

  peek(scopes: readonly LimitScope[], now: number): RateLimitStatus {
    const measured = scopes.map((scope) => ({
      scope,
      share: shareIn(this.shareOf, scope),
      meter: this.scopes[scope.source].get(scope.id)?.meter ?? new Meter(),
    }));
    return statusOf(measured, now);
  }

  settle(id: string, tokens: number): void {
    for (const one of this.end(id)) one.tokens?.correct(tokens - one.reserved);
  }

  cancel(id: string): void {
    for (const { perMinute, perHour, tokens, reserved } of this.end(id)) {
      perMinute?.correct(-1);
      perHour?.correct(-1);
      tokens?.correct(-reserved);
    }
  }

  restore(scope: LimitScope, at: number): void {
    this.measure(scope, at, this.shareOf).meter.count(null, at);
  }

  private measureAll(
    scopes: readonly LimitScope[],
    now: number,
    shareOf: ShareOf | null,
  ): readonly Measured[] {
    const measured: Measured[] = [];
    for (const scope of scopes) measured.push(this.measure(scope, now, shareOf));
    return measured;
  }

  /** Finds the meter of a scope, with the windows that its limits need. */
  private measure(scope: LimitScope, now: number, shareOf: ShareOf | null): Measured {
    const scopes = this.scopes[scope.source];
    const known = scopes.get(scope.id);
    // Callers give the same object until a limit changes. Shares change with the number of gateways.
    if (known?.scope !== scope || shareOf !== null)
      return this.remember(scope, known, { share: shareIn(shareOf, scope), usedAt: now });
    if (now - known.usedAt >= USED_MS) {
      known.usedAt = now;
      scopes.touch(scope.id);
    }
    return known;
  }

  private remember(
    scope: LimitScope,
    before: KnownScope | undefined,
    { share, usedAt }: Pick<KnownScope, "share" | "usedAt">,
  ): Measured {
    const meter = before?.meter ?? new Meter();
    const { requestsPerMinute, tokensPerMinute } = scope.limit;
    if (requestsPerMinute !== null) meter.perMinute ??= new SlidingSum(MINUTE_MS, SECOND_MS);
    if (tokensPerMinute !== null) meter.tokens ??= new SlidingSum(MINUTE_MS, SECOND_MS);
    if (scope.requestsPerHour !== undefined) meter.perHour ??= new SlidingSum(HOUR_MS, SECOND_MS);
    const known = { scope, share, meter, usedAt };
    this.scopes[scope.source].set(scope.id, known);
    return known;
  }

  /** Ends the concurrency of a generation and returns what was counted for it. */
  private end(id: string): readonly Counted[] {
    const admission = this.admissions.get(id);
    if (admission === undefined) return NOTHING;
    this.admissions.delete(id);
    for (const { meter } of admission.counted) meter.running -= 1;
    return admission.counted;
  }

  private expire(now: number): void {
    if (now < this.expiresFrom) return;
    this.expiresFrom = now + this.leaseMs;
    for (const [id, { expiresAt }] of this.admissions) {
      if (expiresAt > now) {
        this.expiresFrom = expiresAt;
        return;
      }
      this.end(id);
    }
  }
}

const NOTHING: readonly Counted[] = [];

function shareIn(shareOf: ShareOf | null, scope: LimitScope): LimitScope {
  return shareOf === null ? scope : shareOf(scope);
}

/** Counts a generation in a scope, where it is concurrent from now on. */
function reserve({ share, meter }: Measured, request: LimitRequest, now: number): Counted {
  meter.running += 1;
  const { tokensPerMinute } = share.limit;
  if (tokensPerMinute === null || meter.tokens === null) return meter.count(null, now);
  return meter.count(tokensToReserve(request, tokensPerMinute), now);
}

function findFirstRejection(
  measured: readonly Measured[],
  request: LimitRequest | null,
  now: number,
): LimitRejection | null {
  for (const one of measured) {
    const rejection = findRejection(one, request, now);
    if (rejection !== null) return rejection;
  }
  return null;
}
