/** What was spent with a key in the period of its limit. Pure functions. */
import type { Key, UsageLine } from "../../api/schema.ts";

const DAY_MS = 86_400_000;

/** Returns the first day (UTC) of the period of a limit; null for the lifetime of the key. Weeks begin on Monday. */
export function firstDayOf(period: Key["spend_limit_period"], now: number): string | null {
  const today = new Date(now).toISOString().slice(0, 10);
  if (period === "day") return today;
  if (period === "month") return `${today.slice(0, 7)}-01`;
  if (period === "total") return null;
  const sinceMonday = (new Date(now).getUTCDay() + 6) % 7;
  return new Date(now - sinceMonday * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the nanodollars that were spent in the present period. `days` is the usage by day, null while it is loaded, which is then the answer. */
export function spentInPeriod(
  key: Pick<Key, "spend_limit_period"> & { readonly usage_nanodollars: number },
  days: readonly Pick<UsageLine, "day" | "cost_nanodollars">[] | null,
  now: number,
): number | null {
  const first = firstDayOf(key.spend_limit_period, now);
  if (first === null) return key.usage_nanodollars;
  if (days === null) return null;
  const present = days.filter(({ day }) => day != null && day >= first);
  return present.reduce((sum, { cost_nanodollars }) => sum + cost_nanodollars, 0);
}
