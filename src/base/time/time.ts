/**
 * Days and times. Times are milliseconds since the epoch. A *day* is a number of whole days since the epoch, a *date* is a day as
 * text (`YYYY-MM-DD`); both are in UTC.
 */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const HOURS_OF_DAY = 24;

/** A range of days, including both ends. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_CHARS = "YYYY-MM-DD".length;

/** Returns the day of a time. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Returns the date of a time. */
export function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, DATE_CHARS);
}

/** Returns a day as a date. */
export function formatDay(day: number): string {
  return dateOf(day * DAY_MS);
}

/** Parses a date as a day. Returns null for text of another form and for days that do not exist, such as `2027-02-30`. */
export function parseDay(date: string): number | null {
  const ms = DATE.test(date) ? Date.parse(date) : Number.NaN;
  return Number.isFinite(ms) && dateOf(ms) === date ? dayOf(ms) : null;
}

/** Returns the time at which a date begins; NaN for text that is not a date. */
export function midnightOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}

/** Returns the date that is `days` later, or earlier if `days` is negative. */
export function addDays(date: string, days: number): string {
  return dateOf(midnightOf(date) + days * DAY_MS);
}

/** The day of the epoch was a Thursday: weeks (ISO 8601) begin with the Monday three days before. */
const EPOCH_WEEKDAY = 3;
const DAYS_OF_WEEK = 7;

/** Returns the first and the last day of a time's week, which begins on Monday (ISO 8601). */
export function weekOf(ms: number): DayRange {
  const day = dayOf(ms);
  const from = day - ((day + EPOCH_WEEKDAY) % DAYS_OF_WEEK);
  return { from, to: from + DAYS_OF_WEEK - 1 };
}

/** Returns the first and the last day of a time's month. */
export function monthOf(ms: number): DayRange {
  const date = new Date(ms);
  const startOf = (month: number): number => dayOf(Date.UTC(date.getUTCFullYear(), month, 1));
  return { from: startOf(date.getUTCMonth()), to: startOf(date.getUTCMonth() + 1) - 1 };
}

/** Formats a time as RFC 3339 in UTC with milliseconds; null stays null. */
export function formatTime(ms: number): string;
export function formatTime(ms: number | null): string | null;
export function formatTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
