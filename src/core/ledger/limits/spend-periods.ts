import { DAY_MS, type DayRange, dayOf, monthOf, weekOf } from "../../../base/time/time.ts";
import type { SpendPeriod } from "../../accounts/fields/key-fields.ts";

/** Returns the days of a period that a time is in. */
export function daysOf(period: SpendPeriod, ms: number): DayRange {
  if (period === "week") return weekOf(ms);
  if (period === "month") return monthOf(ms);
  const day = dayOf(ms);
  return { from: day, to: day };
}

/** Returns when the next period begins. Milliseconds since the epoch. */
export function endOf({ to }: DayRange): number {
  return (to + 1) * DAY_MS;
}
