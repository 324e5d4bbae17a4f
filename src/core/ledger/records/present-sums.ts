import { toDollars } from "../../../base/numbers/money.ts";
import type { GrantLeft } from "./grants.ts";
import type { SumsByKind } from "./ledger-store.ts";

/** Makes the view of the credits and usage of an account, in US dollars. */
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

/** Makes the view of the rest of a grant that expires. */
export function presentGrantLeft({ id, left, expiresAt }: GrantLeft) {
  return {
    id,
    left: toDollars(left),
    left_nanodollars: left,
    expires_at: new Date(expiresAt).toISOString(),
  };
}
