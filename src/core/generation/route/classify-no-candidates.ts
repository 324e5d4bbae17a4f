import type { Failure } from "../../../base/failures/errors.ts";
import { freeLimitFailure } from "../../limits/free-limit.ts";
import type { RateLimitStatus } from "../../limits/rate-limiter.ts";
import type { SkippedCandidate } from "../../routing/plan/plan.ts";
import type { Route } from "./route-request.ts";

/** Returns the failure of a request if only free models could answer it and the account has used up its limit on them; otherwise null. */
export function classifyFreeLimit(
  { skipped, freeLimit, candidates }: Route,
  limitStatus: RateLimitStatus | null = null,
): Failure | null {
  if (freeLimit === null || candidates.length > 0) return null;
  const areLimited = skipped.every(({ why }) => why === "free_limit" || why === "model_limit");
  return areLimited ? freeLimitFailure(freeLimit, limitStatus) : null;
}

/** Returns the failure of a request whose candidates are all skipped. It says when to retry and, for BYOK keys, why they are skipped. */
export function classifyNoCandidates(route: Route, requestedId: string): Failure {
  const overLimit = classifyFreeLimit(route);
  if (overLimit !== null) return overLimit;
  const waiting = route.skipped.filter(({ why, waitMs }) => waitMs !== null && why !== "free_limit");
  const areByok = waiting.length > 0 && waiting.every(({ key }) => key?.byokId != null);
  const limited = waiting.filter(({ why }) => why === "rate_limited");
  const byok = areByok ? { is_byok: true } : {};
  if (limited.length > 0) {
    return {
      code: "rate_limit_exceeded",
      message: `The providers of "${requestedId}" are limiting requests${areByok ? " of the account's BYOK keys" : ""}. Wait and try again, or choose another model.`,
      metadata: { ...byok, limit_source: "upstream" },
      retryAfterS: secondsUntilFirst(limited),
    };
  }
  return {
    code: "unavailable",
    message: areByok
      ? BYOK_MESSAGES[findByokReason(waiting)]
      : `No provider of "${requestedId}" is available at the moment. Choose another model.`,
    ...(areByok ? { metadata: byok } : {}),
    retryAfterS: secondsUntilFirst(waiting),
  };
}

function findByokReason(waiting: readonly SkippedCandidate[]): keyof typeof BYOK_MESSAGES {
  if (waiting.some(({ why }) => why === "out_of_credit")) return "out_of_credit";
  return waiting.some(({ why }) => why === "key_refused") ? "key_refused" : "overloaded";
}

const BYOK_MESSAGES = {
  out_of_credit:
    "The account's BYOK keys for this model are out of credit at their provider. Add credit there, or choose another model.",
  key_refused:
    "The account's BYOK keys for this model are rejected by their provider. Ask a manager of the account to replace them, or choose another model.",
  overloaded:
    "The providers of this model for which the account has keys are overloaded. Try again later, or choose another model.",
} as const;

/** The `Retry-After` of a request that can succeed only after an operator acts. Seconds. */
const UNKNOWN_S = 60;

function secondsUntilFirst(waiting: readonly SkippedCandidate[]): number {
  if (waiting.length === 0) return UNKNOWN_S;
  return Math.max(1, Math.ceil(Math.min(...waiting.map(({ waitMs }) => waitMs ?? 0)) / 1000));
}
