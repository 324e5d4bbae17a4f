import { dayOf, monthOf } from "../../base/time.ts";
import type { InferencePrincipal } from "../accounts/principal.ts";
import type { UsageRecord } from "../usage/records.ts";
import type { SpendLimit } from "./hold-book.ts";
import type { MeterPeriod } from "./money-leases.ts";

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
      meter: meterOfKey(key.id),
      of: "key",
      limit: key.spendLimit,
      since: 0,
      query: { keyId: key.id },
    },
  ];
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
  return limits;
}

/**
 * Returns what the cost of a generation counts for: the meters and periods of `limitsOf` for its request, and possibly others that no
 * limit has, because a record does not tell the kind of its account.
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

function meterOfKey(keyId: string): string {
  return `key:${keyId}`;
}

function meterOfMember(organizationId: string, userId: string): string {
  return `member:${organizationId}/${userId}`;
}

function meterOfOrganization(organizationId: string): string {
  return `organization:${organizationId}`;
}
