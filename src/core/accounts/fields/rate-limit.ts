/** The rate limit of one key, account or model. Null members are not limited. */
export interface RateLimit {
  readonly requestsPerMinute: number | null;
  /** Prompt and completion tokens together. */
  readonly tokensPerMinute: number | null;
  /** Concurrent requests. */
  readonly concurrent: number | null;
}

/** A key's own rate limit. One set by the operator replaces the configured limit; one set by the account can only be lower. */
export interface KeyRateLimit extends RateLimit {
  readonly setBy: "operator" | "account";
}

/** Returns whether any member of a limit is set. */
export function isLimit(limit: RateLimit): boolean {
  return limit.requestsPerMinute !== null || limit.tokensPerMinute !== null || limit.concurrent !== null;
}
