import { isLimit, type RateLimit } from "./rate-limit.ts";
import type { KeyRateLimit } from "./records.ts";

/** What is to change of a limit; null: all of it goes, and what is configured holds. */
export type RateLimitChange = { readonly [Member in keyof RateLimit]?: RateLimit[Member] | undefined } | null;

/** What a change makes of an account's limit; what it leaves out stays. Null where nothing of its own is left. */
export function changeRateLimit(
  before: RateLimit | null,
  change: RateLimitChange | undefined,
): RateLimit | null {
  if (change === undefined || change === null) return change === null ? null : before;
  const kept = <Member extends keyof RateLimit>(member: Member): number | null => {
    const wanted = change[member];
    return wanted === undefined ? (before?.[member] ?? null) : wanted;
  };
  const after: RateLimit = {
    requestsPerMinute: kept("requestsPerMinute"),
    tokensPerMinute: kept("tokensPerMinute"),
    concurrent: kept("concurrent"),
  };
  return isLimit(after) ? after : null;
}

/** A change of a key's limit, and whose it is. */
export interface KeyRateLimitChange {
  readonly setBy: KeyRateLimit["setBy"];
  readonly limit: RateLimitChange;
}

/**
 * The same for a key's. The operator's takes the place of the account's as a whole, which would else become wider than the
 * account may make it; the account's changes nothing of the operator's.
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

/** Whether an account would change what the operator has set. */
export function isOperators(before: KeyRateLimit | null, { setBy }: KeyRateLimitChange): boolean {
  return before?.setBy === "operator" && setBy === "account";
}

/** A limit as the management API and the command show it. */
export function presentRateLimit(limit: RateLimit | null): Record<string, number | null> {
  return {
    requests_per_minute: limit?.requestsPerMinute ?? null,
    tokens_per_minute: limit?.tokensPerMinute ?? null,
    concurrent: limit?.concurrent ?? null,
  };
}
