import type { Caller } from "../accounts/records.ts";
import type { SpendQuery } from "../ports/ledger-store.ts";
import type { SpendLimit } from "./purse.ts";

/** A limit that holds for a caller, and how the store finds what was spent under it. */
export interface CallersLimit extends SpendLimit {
  readonly query: SpendQuery;
}

/** The limits under which a caller spends: of the key in all, of the member a day, of the organization a month (UTC). */
export function limitsOf(
  { key, account, member }: Extract<Caller, { kind: "key" }>,
  now: number,
): CallersLimit[] {
  const limits: CallersLimit[] = [];
  if (key.spendLimit !== null) {
    limits.push({
      meter: `key:${key.id}`,
      of: "key",
      limit: key.spendLimit,
      since: 0,
      query: { keyId: key.id, since: 0 },
    });
  }
  if (member !== null && member.dailyLimit !== null) {
    const since = startOfDay(now);
    limits.push({
      meter: `member:${account.id}/${member.userId}`,
      of: "member",
      limit: member.dailyLimit,
      since,
      query: { accountId: account.id, userId: member.userId, since },
    });
  }
  if (account.monthlyLimit !== null) {
    const since = startOfMonth(now);
    limits.push({
      meter: `organization:${account.id}`,
      of: "organization",
      limit: account.monthlyLimit,
      since,
      query: { accountId: account.id, since },
    });
  }
  return limits;
}

const DAY_MS = 86_400_000;

function startOfDay(now: number): number {
  return now - (now % DAY_MS);
}

function startOfMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}
