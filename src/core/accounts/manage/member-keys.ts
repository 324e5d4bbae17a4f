import { fail } from "../../../base/failures/errors.ts";
import { formatDollars } from "../../../base/numbers/money.ts";
import { DAY_MS, formatTime } from "../../../base/time/time.ts";
import type { KeyRecord, MemberKeys } from "../records/records.ts";
import type { KeyChange, NewKey } from "./manage-keys.ts";

/** The fields that members may set of keys that they make for themselves. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...["name", "kind", "accountId", "userId", "teamId"],
  ...["spendLimit", "spendLimitPeriod", "models", "rateLimit", "cache", "tags", "expiresAt"],
]);

/**
 * Returns a key that a member makes for themselves, within the bounds of the organization. Where a bound needs a value and none was
 * given, the key gets the bound.
 * @throws GatewayError `permission_denied` for a key that the organization does not allow; it names the field and the bound.
 */
export function fitMemberKey(
  wanted: NewKey,
  bounds: MemberKeys | null,
  now: number,
): NewKey & { readonly most: number } {
  if (bounds === null || bounds.count === 0)
    reject(
      "account_id",
      "The members of this organization make no keys of their own. Ask an owner or admin for one.",
    );
  if (wanted.kind !== "inference")
    reject("kind", 'You may make inference keys only. Send kind: "inference", or ask an owner for the key.');
  const other = Object.entries(wanted).find(
    ([name, value]) => value !== undefined && value !== null && !OWN_FIELDS.has(name),
  );
  if (other !== undefined) {
    const field = snakeCase(other[0]);
    reject(field, `Only owners and admins may set ${field} of a key. Omit it.`);
  }
  return {
    ...wanted,
    ...fitExpiry(wanted, bounds, now),
    ...fitSpending(wanted, bounds),
    most: bounds.count ?? NO_BOUND,
  };
}

const NO_BOUND = Number.MAX_SAFE_INTEGER;

function fitExpiry({ expiresAt }: NewKey, { days }: MemberKeys, now: number): Pick<KeyChange, "expiresAt"> {
  if (days === null) return {};
  const latest = now + days * DAY_MS;
  if (expiresAt == null) return { expiresAt: latest };
  if (expiresAt > latest)
    reject(
      "expires_at",
      `Keys of members of this organization expire after ${days} days at the latest. Set expires_at to ${formatTime(latest)} or earlier.`,
    );
  return {};
}

function fitSpending(
  { spendLimit, spendLimitPeriod }: NewKey,
  { spendLimit: most }: MemberKeys,
): Pick<KeyChange, "spendLimit" | "spendLimitPeriod"> {
  if (most === null) return {};
  if (spendLimit == null) return { spendLimit: most, spendLimitPeriod: "month" };
  if (spendLimit > most)
    reject(
      "spend_limit",
      `Keys of members of this organization spend at most ${formatDollars(most)} US dollars a month. Lower spend_limit.`,
    );
  if (spendLimitPeriod != null && spendLimitPeriod !== "month")
    reject(
      "spend_limit_period",
      "The keys of members of this organization have a limit for each month. Set spend_limit_period to month or total.",
    );
  return {};
}

/**
 * Checks a change that a member makes to a key of their own: another name, or tighter limits. The key may be one that an admin made.
 * @throws GatewayError `permission_denied` that names the field.
 */
export function requireTighter(key: KeyRecord, change: KeyChange): void {
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || name === "name") continue;
    if (name === "spendLimit" && isLower(key.spendLimit, value as number | null)) continue;
    if (name === "expiresAt" && isLower(key.expiresAt, value as number | null)) continue;
    const field = snakeCase(name);
    reject(
      field,
      `You may not change ${field} like this. You may change the name of your key, lower its spend_limit, and bring its expires_at forward. Ask an owner or admin for more.`,
    );
  }
}

/** Whether a limit is at most what it was; null is no limit. */
function isLower(before: number | null, after: number | null): boolean {
  return after !== null && (before === null || after <= before);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function reject(field: string, message: string): never {
  return fail("permission_denied", message, { metadata: { field } });
}
