import { BoundedMap } from "../../base/bounded-map.ts";
import { type AddedAmount, SlidingSum } from "../../base/sliding-sum.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time.ts";
import { findRejection, type Measured, Meter, statusOf, tokensToReserve } from "./meter.ts";
import type {
  LimitDecision,
  LimitRejection,
  LimitRequest,
  LimitScope,
  LimitSource,
  RateLimiter,
  RateLimitStatus,
} from "./rate-limiter.ts";

/** Settings of a rate limiter. */
export interface RateLimiterOptions {
  /** Milliseconds after which a generation that was never settled stops counting as concurrent. Longer than any generation. */
  readonly leaseMs: number;
  /** The maximum number of scopes per source. Beyond it, the scope that was idle longest is evicted. */
  readonly maxScopes?: number;
  /** Returns what this process may admit of a scope's limits. Defaults to all of them. */
  readonly shareOf?: (scope: LimitScope) => LimitScope;
}

const MAX_SCOPES = 100_000;

/** What was counted for an admitted generation. */
interface Admission {
  readonly meters: readonly Meter[];
  readonly expiresAt: number;
  readonly requests: readonly AddedAmount[];
  readonly tokens: readonly { readonly added: AddedAmount; readonly amount: number }[];
}

/** A rate limiter in the memory of one process, which admits all that the limits allow, or its share of it. */
export class MemoryRateLimiter implements RateLimiter {
  private readonly meters: Readonly<Record<LimitSource, BoundedMap<string, Meter>>>;
  /** By generation, the oldest first; they expire in this order. */
  private readonly admissions = new Map<string, Admission>();
  private readonly leaseMs: number;
  private readonly shareOf: ((scope: LimitScope) => LimitScope) | null;

  constructor({ leaseMs, maxScopes = MAX_SCOPES, shareOf }: RateLimiterOptions) {
    this.leaseMs = leaseMs;
    this.shareOf = shareOf ?? null;
    // A meter with concurrent requests is kept: they have to be subtracted from it.
    const createMeters = () =>
      new BoundedMap<string, Meter>({ max: maxScopes, mayEvict: ({ running }) => running === 0 });
    this.meters = {
      key: createMeters(),
      account: createMeters(),
      gateway: createMeters(),
      anonymous: createMeters(),
      free_models: createMeters(),
    };
  }

  get running(): number {
    return this.admissions.size;
  }

  admit(request: LimitRequest, now: number): LimitDecision {
    this.expire(now);
    const measured = request.scopes.map((scope) => this.measure(scope));
    const rejection = firstRejection(measured, (one) => findRejection(one, request, now));
    if (rejection !== null) return { kind: "rejected", rejection, limitStatus: statusOf(measured, now) };
    this.admissions.set(request.id, this.reserve(measured, request, now));
    return { kind: "admitted", limitStatus: statusOf(measured, now) };
  }

  count(scopes: readonly LimitScope[], now: number): LimitDecision {
    this.expire(now);
    const measured = scopes.map((scope) => this.measure(scope));
    const rejection = firstRejection(measured, (one) => findRejection(one, null, now));
    if (rejection !== null) return { kind: "rejected", rejection, limitStatus: statusOf(measured, now) };
    for (const { meter } of measured) meter.countRequest(now);
    return { kind: "admitted", limitStatus: statusOf(measured, now) };
  }

  peek(scopes: readonly LimitScope[], now: number): RateLimitStatus {
    const measured = scopes.map((scope) => ({
      scope,
      share: this.takeShare(scope),
      meter: this.meters[scope.source].get(scope.id) ?? new Meter(),
    }));
    return statusOf(measured, now);
  }

  settle(id: string, tokens: number): void {
    for (const { added, amount } of this.end(id)?.tokens ?? []) added.correct(tokens - amount);
  }

  cancel(id: string): void {
    const admission = this.end(id);
    for (const added of admission?.requests ?? []) added.correct(-1);
    for (const { added, amount } of admission?.tokens ?? []) added.correct(-amount);
  }

  restore(scope: LimitScope, at: number): void {
    this.measure(scope).meter.countRequest(at);
  }

  /** Finds the meter of a scope, with the windows that its limits need. */
  private measure(scope: LimitScope): Measured {
    const meters = this.meters[scope.source];
    const meter = meters.get(scope.id) ?? new Meter();
    const { requestsPerMinute, tokensPerMinute } = scope.limit;
    if (requestsPerMinute !== null) meter.perMinute ??= new SlidingSum(MINUTE_MS, SECOND_MS);
    if (tokensPerMinute !== null) meter.tokens ??= new SlidingSum(MINUTE_MS, SECOND_MS);
    if (scope.requestsPerHour !== undefined) meter.perHour ??= new SlidingSum(HOUR_MS, SECOND_MS);
    meters.set(scope.id, meter);
    return { scope, share: this.takeShare(scope), meter };
  }

  private takeShare(scope: LimitScope): LimitScope {
    return this.shareOf === null ? scope : this.shareOf(scope);
  }

  private reserve(measured: readonly Measured[], request: LimitRequest, now: number): Admission {
    const requests: AddedAmount[] = [];
    const tokens: { added: AddedAmount; amount: number }[] = [];
    for (const { share, meter } of measured) {
      meter.running += 1;
      requests.push(...meter.countRequest(now));
      const { tokensPerMinute } = share.limit;
      if (tokensPerMinute === null || meter.tokens === null) continue;
      const amount = tokensToReserve(request, tokensPerMinute - meter.tokens.at(now));
      tokens.push({ added: meter.tokens.add(amount, now), amount });
    }
    const meters = measured.map(({ meter }) => meter);
    return { meters, expiresAt: now + this.leaseMs, requests, tokens };
  }

  /** Ends the concurrency of a generation and returns what was counted for it. */
  private end(id: string): Admission | undefined {
    const admission = this.admissions.get(id);
    this.admissions.delete(id);
    for (const meter of admission?.meters ?? []) meter.running -= 1;
    return admission;
  }

  private expire(now: number): void {
    for (const [id, { expiresAt }] of this.admissions) {
      if (expiresAt > now) return;
      this.end(id);
    }
  }
}

function firstRejection(
  measured: readonly Measured[],
  find: (one: Measured) => LimitRejection | null,
): LimitRejection | null {
  for (const one of measured) {
    const rejection = find(one);
    if (rejection !== null) return rejection;
  }
  return null;
}
