import { isLimit, type KeyRateLimit, type RateLimit } from "./rate-limit.ts";

/** The members of a rate limit to change; absent and undefined members keep their value. Null removes the limit. */
export type RateLimitChange = { readonly [Member in keyof RateLimit]?: RateLimit[Member] | undefined } | null;

/** Returns an account's rate limit after a change; null if no member of it is left. */
export function changeRateLimit(
  before: RateLimit | null,
  change: RateLimitChange | undefined,
): RateLimit | null {
  if (change === undefined || change === null) return change === null ? null : before;
  const changed = <Member extends keyof RateLimit>(member: Member): number | null => {
    const wanted = change[member];
    return wanted === undefined ? (before?.[member] ?? null) : wanted;
  };
  const after: RateLimit = {
    requestsPerMinute: changed("requestsPerMinute"),
    tokensPerMinute: changed("tokensPerMinute"),
    concurrent: changed("concurrent"),
  };
  return isLimit(after) ? after : null;
}

/** A change of a key's rate limit, and who makes it. */
export interface KeyRateLimitChange {
  readonly setBy: KeyRateLimit["setBy"];
  readonly limit: RateLimitChange;
}

/**
 * Returns a key's rate limit after a change. A limit that the operator sets replaces the account's limit entirely, because a
 * mixture of both could be wider than the account may set. The account cannot change a limit that the operator has set.
 */
export function changeKeyRateLimit(
  before: KeyRateLimit | null,
  change: KeyRateLimitChange | undefined,
): KeyRateLimit | null {
  if (change === undefined || isOperators(before, change)) return before;
  const { setBy } = change;
  const limit = changeRateLimit(before?.setBy === setBy ? before : null, change.limit);
  return limit === null ? null : { ...limit, setBy };
}

/** Returns whether a change comes from an account, but the operator has set the limit. */
export function isOperators(before: KeyRateLimit | null, { setBy }: KeyRateLimitChange): boolean {
  return before?.setBy === "operator" && setBy === "account";
}
