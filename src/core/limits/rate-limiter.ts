import type { RateLimit } from "../accounts/fields/rate-limit.ts";

/**
 * The kind of a scope. The first five are the values of `metadata.limit_source`; `gateway` is the source of limits on models.
 * `free_models` is an account's limit on free models.
 */
export type LimitSource = "key" | "team" | "account" | "gateway" | "anonymous" | "free_models";

/** The thing to which a rate limit applies (a key, account, model or client address), with its limits. */
export interface LimitScope {
  readonly source: LimitSource;
  readonly id: string;
  /** The account of a key. Its scopes are counted at one place, wherever limits are counted. */
  readonly accountId?: string;
  readonly limit: RateLimit;
  /** Requests per hour. Absent for no limit; 0 allows none. */
  readonly requestsPerHour?: number;
}

/** A generation that asks to be admitted. */
export interface LimitRequest {
  /** The generation's id. */
  readonly id: string;
  readonly scopes: readonly LimitScope[];
  /** The estimated tokens of the prompt. */
  readonly promptTokens: number;
  /** The maximum tokens of the answers, or the expected number if the request sets no maximum. */
  readonly completionTokens: number;
  /** The tokens to reserve for the answers if the maximum exceeds even an unused limit. Absent: the maximum. */
  readonly expectedTokens?: number;
  /** Whether the request sets a maximum. Absent: it does. */
  readonly isBounded?: boolean;
}

/** The state of one limit. Times are in milliseconds. */
export interface LimitVerdict {
  /** Whether one more request would be admitted. */
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the whole limit is available again. */
  readonly resetMs: number;
  /** Until one more request would be admitted; 0 if it would be now. */
  readonly retryAfterMs: number;
}

/** The limits of requests and of tokens with the least remaining. Null if there is none. */
export interface RateLimitStatus {
  readonly requests: LimitVerdict | null;
  readonly tokens: LimitVerdict | null;
}

/** The limit that a request exceeds. */
export interface LimitRejection {
  readonly source: LimitSource;
  readonly kind: "requests_per_minute" | "requests_per_hour" | "tokens_per_minute" | "concurrent";
  readonly limit: number;
  /** Milliseconds after which a retry may be admitted. */
  readonly retryAfterMs: number;
  /** The prompt alone exceeds the limit, so that waiting does not help. */
  readonly isTooLarge: boolean;
}

/** Whether a request was admitted. `limitStatus` is the status after it; a rejected request is not counted. */
export type LimitDecision =
  | { readonly kind: "admitted"; readonly limitStatus: RateLimitStatus }
  | { readonly kind: "rejected"; readonly rejection: LimitRejection; readonly limitStatus: RateLimitStatus };

/**
 * Counts requests, tokens and concurrent requests per scope, over sliding windows of a minute or an hour. A request is
 * counted in all of its scopes or in none. The limits of a scope may differ from one request to the next; what was counted
 * stays. Times are milliseconds since the epoch.
 */
export interface RateLimiter {
  /** Admits and counts a generation, or rejects it. An admitted one stays concurrent until `settle` or `cancel`. */
  admit(request: LimitRequest, now: number): Promise<LimitDecision>;
  /** Admits and counts a request that uses no tokens and is not counted as concurrent, or rejects it. */
  count(scopes: readonly LimitScope[], now: number): Promise<LimitDecision>;
  /** Returns the status of the limits without counting a request. */
  peek(scopes: readonly LimitScope[], now: number): Promise<RateLimitStatus>;
  /** Replaces the reserved tokens of an ended generation by the used ones. No-op for a generation that was not admitted. */
  settle(id: string, tokens: number): void;
  /** Undoes all counts of a generation that ended before it ran. */
  cancel(id: string): void;
  /** Counts a request from before a restart. Call it in the order of time, before any other request is counted. */
  restore(scope: LimitScope, at: number): void;
  /** The number of admitted generations that are not settled. */
  readonly running: number;
}

/** The limits of a scope without any. */
export const NO_LIMIT: RateLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrent: null };
