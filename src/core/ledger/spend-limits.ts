import { dayOf, monthOf } from "../../base/time.ts";
import type { InferencePrincipal } from "../accounts/principal.ts";
import type { SpendLimit } from "./hold-book.ts";

/**
 * Returns the spending limits that a caller's request counts for: of the key in total, of the member per day, of the organization
 * per month (UTC). Limits that are not set are included, because what is spent counts for a limit that is set later.
 */
export function limitsOf(
  { key, account, member }: Extract<InferencePrincipal, { kind: "key" }>,
  requestedAt: number,
): SpendLimit[] {
  const limits: SpendLimit[] = [
    {
      meter: `key:${key.id}`,
      of: "key",
      limit: key.spendLimit,
      since: 0,
      query: { keyId: key.id },
    },
  ];
  if (member !== null) {
    const day = dayOf(requestedAt);
    limits.push({
      meter: `member:${account.id}/${member.userId}`,
      of: "member",
      limit: member.dailyLimit,
      since: day,
      query: { accountId: account.id, userId: member.userId, days: { from: day, to: day } },
    });
  }
  if (account.kind === "organization") {
    const days = monthOf(requestedAt);
    limits.push({
      meter: `organization:${account.id}`,
      of: "organization",
      limit: account.monthlyLimit,
      since: days.from,
      query: { accountId: account.id, days },
    });
  }
  return limits;
}
