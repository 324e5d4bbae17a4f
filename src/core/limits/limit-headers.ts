import type { LimitVerdict, RateLimitStatus } from "./rate-limiter.ts";

/** Takes headers one by one, with names in lower case. */
export interface HeaderSink {
  /** Puts a text, or a number and its unit, which is always the same for a name. A number is printed only if its text is needed. */
  put(name: string, value: string | number, unit?: string): void;
}

/** Prints the value of a header that was put with this unit. */
export function printHeader(value: string | number, unit: string): string {
  return typeof value === "string" ? value : `${value}${unit}`;
}

/** Puts the status of a caller's limits as `x-ratelimit-…` headers (docs/api/limits.md, "Headers"). */
export function putLimitHeaders({ requests, tokens }: RateLimitStatus, headers: HeaderSink): void {
  if (requests !== null) {
    headers.put("x-ratelimit-limit-requests", requests.limit);
    headers.put("x-ratelimit-remaining-requests", requests.remaining);
    headers.put("x-ratelimit-reset-requests", secondsUntilReset(requests), "s");
  }
  if (tokens !== null) {
    headers.put("x-ratelimit-limit-tokens", tokens.limit);
    headers.put("x-ratelimit-remaining-tokens", tokens.remaining);
    headers.put("x-ratelimit-reset-tokens", secondsUntilReset(tokens), "s");
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
    put(name, value, unit = "") {
      all[name] = printHeader(value, unit);
    },
  });
  return all;
}

function secondsUntilReset({ resetMs }: LimitVerdict): number {
  return Math.ceil(resetMs / 1000);
}
