import { formatDollars } from "../../base/money.ts";
import { formatTime } from "../../base/time.ts";

/** Formats a limit in nanodollars as dollars for a table; `none` without one. */
export function printLimit(nanodollars: number | null): string {
  return nanodollars === null ? "none" : `$${formatDollars(nanodollars)}`;
}

/** Formats a time for a table: UTC to the second, such as `2027-01-31T12:00:00`. */
export function printTime(ms: number): string {
  return formatTime(ms).slice(0, "YYYY-MM-DDTHH:MM:SS".length);
}
