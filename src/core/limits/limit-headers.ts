import type { LimitVerdict, RateLimitStatus } from "./rate-limiter.ts";

/** Takes headers one by one, with names in lower case. */
export interface HeaderSink {
  put(name: string, value: string): void;
}

/** Puts the status of a caller's limits as `x-ratelimit-…` headers (docs/api/limits.md, "Headers"). */
export function putLimitHeaders({ requests, tokens }: RateLimitStatus, headers: HeaderSink): void {
  if (requests !== null) {
    headers.put("x-ratelimit-limit-requests", String(requests.limit));
    headers.put("x-ratelimit-remaining-requests", String(requests.remaining));
    headers.put("x-ratelimit-reset-requests", resetOf(requests));
  }
  if (tokens !== null) {
    headers.put("x-ratelimit-limit-tokens", String(tokens.limit));
    headers.put("x-ratelimit-remaining-tokens", String(tokens.remaining));
    headers.put("x-ratelimit-reset-tokens", resetOf(tokens));
  }
}

/** Returns the headers of `putLimitHeaders` as an object. */
export function limitHeaders(limitStatus: RateLimitStatus): Record<string, string> {
  return collectHeaders((headers) => putLimitHeaders(limitStatus, headers));
}

/** Returns what a function puts into a sink as an object; of a repeated name, the last value. */
export function collectHeaders(put: (headers: HeaderSink) => void): Record<string, string> {
  const all: Record<string, string> = {};
  put({
    put(name, value) {
      all[name] = value;
    },
  });
  return all;
}

function resetOf({ resetMs }: LimitVerdict): string {
  return `${Math.ceil(resetMs / 1000)}s`;
}
