import type { LimitVerdict, RateLimitStatus } from "./rate-limiter.ts";

/** Formats the status of a caller's limits as `x-ratelimit-…` headers (docs/api/limits.md, "Headers"). */
export function limitHeaders({ requests, tokens }: RateLimitStatus): Record<string, string> {
  return {
    ...(requests === null ? {} : headersOf("requests", requests)),
    ...(tokens === null ? {} : headersOf("tokens", tokens)),
  };
}

function headersOf(unit: "requests" | "tokens", verdict: LimitVerdict): Record<string, string> {
  return {
    [`x-ratelimit-limit-${unit}`]: String(verdict.limit),
    [`x-ratelimit-remaining-${unit}`]: String(verdict.remaining),
    [`x-ratelimit-reset-${unit}`]: `${Math.ceil(verdict.resetMs / 1000)}s`,
  };
}
