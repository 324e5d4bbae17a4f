import { toDollars } from "../../base/money.ts";
import type { GrantLeft } from "./grants.ts";
import type { SumsByKind } from "./ledger-store.ts";

/** What an account's balance came from, in US dollars. */
export function presentSums(sums: SumsByKind) {
  const used = toDollars(-sums.usage - sums.refund);
  return {
    total_granted: toDollars(sums.grant),
    total_purchased: toDollars(sums.purchase),
    total_used: used,
    total_credits: toDollars(sums.grant + sums.purchase + sums.correction + sums.expiry),
    total_usage: used,
  };
}

/** What is left of a grant for a time. */
export function presentGrantLeft({ id, left, expiresAt }: GrantLeft) {
  return {
    id,
    left: toDollars(left),
    left_nanodollars: left,
    expires_at: new Date(expiresAt).toISOString(),
  };
}
