import type { Failure } from "../../base/errors.ts";
import type { Principal } from "../accounts/records.ts";
import { limitHeaders } from "./limit-headers.ts";
import { type RateLimitStatus, tightest } from "./rate-limits.ts";
import type { LimitVerdict, SlidingWindow } from "./sliding-window.ts";

/** The word for this limit in `metadata.limit_kind`. */
export const FREE_LIMIT_KIND = "free_requests_per_hour";

/** Counts the requests of each account to free models (specification 8). */
export interface FreeLimit {
  /** Counts a request, unless the account has used its limit up. Null: nothing is limited here. */
  admit(principal: Principal, now: number): LimitVerdict | null;
  /** The account's status, counting nothing. Null: nothing is limited here. */
  peek(principal: Principal, now: number): LimitVerdict | null;
  /** Counts a request of the past, from before a restart. */
  restore(accountId: string, at: number): void;
}

/** Counts with a window of an hour; null: no account is limited. Callers without a key have a limit of their own. */
export function createFreeLimit(window: SlidingWindow | null): FreeLimit {
  return {
    admit: (principal, now) =>
      window === null || principal.kind === "anonymous" ? null : window.admit(principal.account.id, now),
    peek: (principal, now) =>
      window === null || principal.kind === "anonymous" ? null : window.peek(principal.account.id, now),
    restore: (accountId, at) => window?.restore(accountId, at),
  };
}

/** The failure of a request that only free models could answer when the account has used them up. */
export function freeLimitFailure(verdict: LimitVerdict, limitStatus: RateLimitStatus | null): Failure {
  const retryAfterS = Math.max(1, Math.ceil(verdict.retryAfterMs / 1000));
  return {
    code: "rate_limit_exceeded",
    message: `This account has used its ${verdict.limit} requests an hour to free models. Wait ${retryAfterS} s, or name a model whose id does not end in ":free".`,
    retryAfterS,
    metadata: { limit_source: "account", limit_kind: FREE_LIMIT_KIND, limit: verdict.limit },
    headers: limitHeaders(withFreeLimit(limitStatus, verdict)),
  };
}

/** The status of all limits, this one among them. */
export function withFreeLimit(limitStatus: RateLimitStatus | null, verdict: LimitVerdict): RateLimitStatus {
  return {
    requests: tightest([verdict, limitStatus?.requests ?? null]),
    tokens: limitStatus?.tokens ?? null,
  };
}
