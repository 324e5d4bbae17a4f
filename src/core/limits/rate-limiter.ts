import type { RateLimit } from "../accounts/rate-limit.ts";

/**
 * What a limit belongs to. The first four are the values of `metadata.limit_source`; the limit of a model is the gateway's own.
 * `free_models` is an account's limit on free models.
 */
export type LimitSource = "key" | "account" | "gateway" | "anonymous" | "free_models";

/** Something that requests are counted for (a key, an account, a model, an address), with its limits. */
export interface LimitScope {
  readonly source: LimitSource;
  readonly id: string;
  readonly limit: RateLimit;
  /** Requests in an hour; absent: no limit. 0 allows none. */
  readonly requestsPerHour?: number;
}

/** A generation that asks to be admitted. */
export interface LimitRequest {
  /** The generation's id. */
  readonly id: string;
  readonly scopes: readonly LimitScope[];
  /** The estimated tokens of the prompt. */
  readonly promptTokens: number;
  /** The most tokens that the answers may have, or the number expected of them if the request sets no bound. */
  readonly completionTokens: number;
}

/** What is left of one limit. Times are milliseconds. */
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

/** The limits with the least left among those that apply, of requests and of tokens; null: there is none. */
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
  /** Returns the status of the limits and counts nothing. */
  peek(scopes: readonly LimitScope[], now: number): Promise<RateLimitStatus>;
  /** Replaces the reserved tokens of a generation that has ended by those it used. No-op for one that was not admitted. */
  settle(id: string, tokens: number): void;
  /** Takes back everything that was counted for a generation, which ended before it ran. */
  cancel(id: string): void;
  /** Counts a request of the past, before the first of the present, in the order of time: limits outlive a restart. */
  restore(scope: LimitScope, at: number): void;
  /** The number of admitted generations that are not settled. */
  readonly running: number;
}

/** The limits of a scope without any. */
export const NO_LIMIT: RateLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrent: null };
