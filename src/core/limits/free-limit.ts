import type { Failure } from "../../base/failures/errors.ts";
import type { InferencePrincipal } from "../accounts/records/principal.ts";
import { limitHeaders } from "./limit-headers.ts";
import { tightest } from "./meter.ts";
import {
  type LimitScope,
  type LimitVerdict,
  NO_LIMIT,
  type RateLimiter,
  type RateLimitStatus,
} from "./rate-limiter.ts";

/** The value of `metadata.limit_kind` for this limit. */
const FREE_LIMIT_KIND = "free_requests_per_hour";

/**
 * The limit on each account's requests to free models. Anonymous callers are limited by client address instead. The methods
 * return null for callers to whom it does not apply.
 */
export class FreeLimit {
  constructor(
    private readonly limiter: RateLimiter,
    /** 0 for no limit. */
    private readonly requestsPerHour: number,
  ) {}

  /** Counts a request unless the account has used its limit up. */
  async admit(principal: InferencePrincipal, now: number): Promise<LimitVerdict | null> {
    const scope = this.scopeOf(principal);
    if (scope === null) return null;
    const { kind, limitStatus } = await this.limiter.count([scope], now);
    return limitStatus.requests && { ...limitStatus.requests, allowed: kind === "admitted" };
  }

  /** Returns the account's status without counting a request. */
  async peek(principal: InferencePrincipal, now: number): Promise<LimitVerdict | null> {
    const scope = this.scopeOf(principal);
    return scope === null ? null : (await this.limiter.peek([scope], now)).requests;
  }

  /** Counts a request from before a restart. */
  restore(accountId: string, at: number): void {
    if (this.requestsPerHour > 0) this.limiter.restore(this.accountScope(accountId), at);
  }

  private scopeOf(principal: InferencePrincipal): LimitScope | null {
    if (this.requestsPerHour === 0 || principal.kind === "anonymous") return null;
    return this.accountScope(principal.account.id);
  }

  private accountScope(id: string): LimitScope {
    return { source: "free_models", id, limit: NO_LIMIT, requestsPerHour: this.requestsPerHour };
  }
}

/** The failure of a request that only free models could answer, when the account has used up its limit on them. */
export function freeLimitFailure(verdict: LimitVerdict, limitStatus: RateLimitStatus | null): Failure {
  const retryAfterS = Math.max(1, Math.ceil(verdict.retryAfterMs / 1000));
  return {
    code: "rate_limit_exceeded",
    message: `This account has used its ${verdict.limit} requests per hour to free models. Wait ${retryAfterS} s, or choose a model whose id does not end in ":free".`,
    retryAfterS,
    metadata: { limit_source: "account", limit_kind: FREE_LIMIT_KIND, limit: verdict.limit },
    headers: limitHeaders(withFreeLimit(limitStatus, verdict)),
  };
}

/** Returns the status of the caller's limits with the limit on free models among them. */
export function withFreeLimit(limitStatus: RateLimitStatus | null, verdict: LimitVerdict): RateLimitStatus {
  return {
    requests: tightest([verdict, limitStatus?.requests ?? null]),
    tokens: limitStatus?.tokens ?? null,
  };
}
