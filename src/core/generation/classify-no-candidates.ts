import type { Failure } from "../../base/errors.ts";
import { freeLimitFailure } from "../limits/free-limit.ts";
import type { RateLimitStatus } from "../limits/rate-limiter.ts";
import type { SkippedCandidate } from "../routing/plan.ts";
import type { Route } from "./route-request.ts";

/** The failure of a request that nobody but free models could answer, of an account that has used them up; else null. */
export function classifyFreeLimit(
  { skipped: setAside, freeLimit, candidates }: Route,
  limitStatus: RateLimitStatus | null = null,
): Failure | null {
  if (freeLimit === null || candidates.length > 0) return null;
  return setAside.every(({ why }) => why === "free_limit") ? freeLimitFailure(freeLimit, limitStatus) : null;
}

/** What is said where all who could answer are set aside for a while: when to come back, and for the account's own keys why. */
export function classifyNoCandidates(route: Route, requestedId: string): Failure {
  const overLimit = classifyFreeLimit(route);
  if (overLimit !== null) return overLimit;
  const waiting = route.skipped.filter(({ why, waitMs }) => waitMs !== null && why !== "free_limit");
  const areOwn = waiting.every(({ key }) => key?.byokId != null);
  const limited = waiting.filter(({ why }) => why === "rate_limited");
  const own = areOwn ? { is_byok: true } : {};
  if (limited.length > 0) {
    return {
      code: "rate_limit_exceeded",
      message: `The providers of "${requestedId}" are limiting requests${areOwn ? " of the account's own keys" : ""}. Wait and repeat the request, or name another model.`,
      metadata: { ...own, limit_source: "upstream" },
      retryAfterS: secondsUntilFirst(limited),
    };
  }
  return {
    code: "unavailable",
    message: areOwn
      ? OWN_WORDS[whyOf(waiting)]
      : `No provider of "${requestedId}" is available at the moment. Name another model.`,
    ...(areOwn ? { metadata: own } : {}),
    retryAfterS: secondsUntilFirst(waiting),
  };
}

function whyOf(waiting: readonly SkippedCandidate[]): keyof typeof OWN_WORDS {
  if (waiting.some(({ why }) => why === "out_of_credit")) return "out_of_credit";
  return waiting.some(({ why }) => why === "key_refused") ? "key_refused" : "overloaded";
}

const OWN_WORDS = {
  out_of_credit:
    "The account's own keys for this model are out of credit at their provider. Add credit there, or name another model.",
  key_refused:
    "The account's own keys for this model are refused by their provider. Whoever manages the account can replace them; or name another model.",
  overloaded:
    "The providers of this model that the account has keys for are overloaded. Repeat the request later, or name another model.",
} as const;

function secondsUntilFirst(waiting: readonly SkippedCandidate[]): number {
  return Math.max(1, Math.ceil(Math.min(...waiting.map(({ waitMs }) => waitMs ?? 0)) / 1000));
}
