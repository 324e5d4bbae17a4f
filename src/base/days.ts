/** Durations in milliseconds, and calendar days (UTC) as numbers counted from 1970-01-01. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Days from one to another; both ends belong to the range. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** Returns the day of a time in milliseconds since the epoch. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Formats a day as `YYYY-MM-DD`. */
export function formatDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
}

/** Parses `YYYY-MM-DD`; returns null for anything else, or for a day that the calendar does not have. */
export function parseDay(text: string): number | null {
  const day = dayOf(Date.parse(text));
  return /^\d{4}-\d\d-\d\d$/.test(text) && Number.isFinite(day) ? day : null;
}

/** Returns the days of the calendar month of a time in milliseconds since the epoch. */
export function monthOf(ms: number): DayRange {
  const date = new Date(ms);
  const startOf = (month: number): number => dayOf(Date.UTC(date.getUTCFullYear(), month, 1));
  return { from: startOf(date.getUTCMonth()), to: startOf(date.getUTCMonth() + 1) - 1 };
}
