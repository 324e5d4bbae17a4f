import type { RateLimitStatus } from "./rate-limits.ts";
import type { LimitVerdict } from "./sliding-window.ts";

/** The headers in which an answer says how its limits stand (docs/contract.md, "Keys, money, limits"). */
export function limitHeaders({ requests, tokens }: RateLimitStatus): Record<string, string> {
  return {
    ...(requests === null ? {} : headersOf("requests", requests)),
    ...(tokens === null ? {} : headersOf("tokens", tokens)),
  };
}

/** How the limit of a caller without a key stands: it counts requests alone. */
export function anonymousStatus(requests: LimitVerdict): RateLimitStatus {
  return { requests, tokens: null };
}

function headersOf(unit: "requests" | "tokens", verdict: LimitVerdict): Record<string, string> {
  return {
    [`x-ratelimit-limit-${unit}`]: String(verdict.limit),
    [`x-ratelimit-remaining-${unit}`]: String(verdict.remaining),
    [`x-ratelimit-reset-${unit}`]: `${Math.ceil(verdict.resetMs / 1000)}s`,
  };
}
