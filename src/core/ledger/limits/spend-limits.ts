import { dayOf, monthOf } from "../../../base/time/time.ts";
import { SPEND_PERIODS, type SpendPeriod } from "../../accounts/fields/key-fields.ts";
import type { AccountPrincipal } from "../../accounts/records/principal.ts";
import type { KeyRecord } from "../../accounts/records/records.ts";
import type { UsageRecord } from "../../usage/records/records.ts";
import type { Spender, SpendLimit } from "../holds/hold-book.ts";
import type { MeterPeriod } from "../leases/money-leases.ts";
import { addBudgets, LATE_METERS } from "./budget-limits.ts";
import { daysOf } from "./spend-periods.ts";

/**
 * Returns the spending limits for which a caller's request counts: of the key in total, of the member per day, of the organization per
 * month (UTC). These are included even if they are not set, because the spending counts for a limit that is set later. A key's limit by
 * day, week or month is included only if it is set, a budget only if it rejects requests.
 */
export function limitsOf(principal: AccountPrincipal, spender: Spender): readonly SpendLimit[] {
  const { key, account, member } = principal;
  const { createdAt: requestedAt } = spender;
  const { spendLimitPeriod } = key;
  const limits: SpendLimit[] = [
    {
      meter: meterOfKey(key.id),
      of: "key",
      limit: spendLimitPeriod === null ? key.spendLimit : null,
      since: 0,
      query: { keyId: key.id },
    },
  ];
  if (spendLimitPeriod !== null && key.spendLimit !== null)
    limits.push(limitOfKey(key, spendLimitPeriod, requestedAt));
  if (member !== null) {
    const day = dayOf(requestedAt);
    limits.push({
      meter: meterOfMember(account.id, member.userId),
      of: "member",
      limit: member.dailyLimit,
      since: day,
      query: { accountId: account.id, userId: member.userId, days: { from: day, to: day } },
    });
  }
  if (account.kind === "organization") {
    const days = monthOf(requestedAt);
    limits.push({
      meter: meterOfOrganization(account.id),
      of: "organization",
      limit: account.monthlyLimit,
      since: days.from,
      query: { accountId: account.id, days },
    });
  }
  if (account.budgets !== undefined) addBudgets(limits, account.budgets, spender);
  return limits;
}

function limitOfKey({ id, spendLimit }: KeyRecord, period: SpendPeriod, requestedAt: number): SpendLimit {
  const days = daysOf(period, requestedAt);
  return {
    meter: meterOfKeyIn(period, id),
    of: "key",
    limit: spendLimit,
    since: days.from,
    query: { keyId: id, days },
    covers: ({ keyId, createdAt }) => keyId === id && daysOf(period, createdAt).from === days.from,
  };
}

/**
 * Returns the meters and periods for which the cost of a generation counts: those of `limitsOf` for its request, and possibly others
 * without a limit, because a record does not have the kind of its account.
 */
export function metersOf({
  accountId,
  keyId,
  userId,
  createdAt,
}: Pick<UsageRecord, "accountId" | "keyId" | "userId" | "createdAt">): MeterPeriod[] {
  const meters: MeterPeriod[] = [];
  if (keyId !== null) meters.push({ meter: meterOfKey(keyId), since: 0 });
  // The keys of a user's own account belong to that user.
  if (accountId === null || accountId === userId) return meters;
  if (userId !== null) meters.push({ meter: meterOfMember(accountId, userId), since: dayOf(createdAt) });
  meters.push({ meter: meterOfOrganization(accountId), since: monthOf(createdAt).from });
  return meters;
}

/**
 * Returns the meters of a key's limits by day, week and month that the cost of a generation counts for, if they are in use
 * (`SpendLimit.covers`).
 */
export function lateMetersOf({ keyId, createdAt }: Spender): MeterPeriod[] {
  if (keyId === null) return [];
  return SPEND_PERIODS.map((period) => ({
    meter: meterOfKeyIn(period, keyId),
    since: daysOf(period, createdAt).from,
  }));
}

function meterOfKeyIn(period: SpendPeriod, keyId: string): string {
  return `${LATE_METERS}${keyId}/${period}`;
}

/** Returns the meter of a key's limit in total, which counts every cost of the key. */
export function meterOfKey(keyId: string): string {
  return `key:${keyId}`;
}

function meterOfMember(organizationId: string, userId: string): string {
  return `member:${organizationId}/${userId}`;
}

function meterOfOrganization(organizationId: string): string {
  return `organization:${organizationId}`;
}
