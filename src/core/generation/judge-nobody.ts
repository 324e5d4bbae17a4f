import type { Failure } from "../../base/errors.ts";
import type { SetAside } from "../routing/plan.ts";

/** What is said where all who could answer are set aside for a while: when to come back, and for the account's own keys why. */
export function judgeNobody(setAside: readonly SetAside[], requestedId: string): Failure {
  const waiting = setAside.filter(({ waitMs }) => waitMs !== null);
  const areOwn = waiting.every(({ key }) => key?.ownId != null);
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

function whyOf(waiting: readonly SetAside[]): keyof typeof OWN_WORDS {
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

function secondsUntilFirst(waiting: readonly SetAside[]): number {
  return Math.max(1, Math.ceil(Math.min(...waiting.map(({ waitMs }) => waitMs ?? 0)) / 1000));
}
