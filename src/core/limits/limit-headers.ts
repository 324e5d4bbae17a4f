import type { LimitVerdict, RateLimitStatus } from "./rate-limiter.ts";

/**
 * Adds the status of a caller's limits as `x-ratelimit-…` headers (docs/api/limits.md, "Headers") to these headers, and returns them. Names
 * are in lower case.
 */
export function limitHeaders(
  { requests, tokens }: RateLimitStatus,
  headers: Record<string, string> = {},
): Record<string, string> {
  if (requests !== null) {
    headers["x-ratelimit-limit-requests"] = String(requests.limit);
    headers["x-ratelimit-remaining-requests"] = String(requests.remaining);
    headers["x-ratelimit-reset-requests"] = secondsUntilReset(requests);
  }
  if (tokens !== null) {
    headers["x-ratelimit-limit-tokens"] = String(tokens.limit);
    headers["x-ratelimit-remaining-tokens"] = String(tokens.remaining);
    headers["x-ratelimit-reset-tokens"] = secondsUntilReset(tokens);
  }
  return headers;
}

function secondsUntilReset({ resetMs }: LimitVerdict): string {
  return `${Math.ceil(resetMs / 1000)}s`;
}
