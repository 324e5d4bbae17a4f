import { dayOf, monthOf } from "../../base/days.ts";
import type { Principal } from "../accounts/records.ts";
import type { SpendLimit } from "./hold-book.ts";
import type { SpendQuery } from "./ledger-store.ts";

/** A limit that holds for a caller, and how the store finds what was spent under it. */
export interface CallersLimit extends SpendLimit {
  readonly query: SpendQuery;
}

/**
 * The limits under which a caller's request of that time spends: of the key in all, of the member a day, of the organization
 * a month (UTC). Those that are not set are among them: what is spent counts all the same, for the day the limit is set.
 */
export function limitsOf(
  { key, account, member }: Extract<Principal, { kind: "key" }>,
  requestedAt: number,
): CallersLimit[] {
  const limits: CallersLimit[] = [
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
