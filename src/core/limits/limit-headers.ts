import type { LimitVerdict } from "./sliding-window.ts";

/** The headers in which an answer says how its limit stands (docs/contract.md, "Keys, money, limits"). */
export function limitHeaders(verdict: LimitVerdict): Record<string, string> {
  return {
    "x-ratelimit-limit-requests": String(verdict.limit),
    "x-ratelimit-remaining-requests": String(verdict.remaining),
    "x-ratelimit-reset-requests": `${Math.ceil(verdict.resetMs / 1000)}s`,
  };
}
