import { formatDollars } from "../base/money.ts";

/** A limit for people. */
export function printLimit(nanodollars: number | null): string {
  return nanodollars === null ? "none" : `$${formatDollars(nanodollars)}`;
}

/** A day for people. */
export function printDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
