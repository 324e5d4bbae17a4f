/** Texts for numbers, money and times. Times are in the zone of `state/time-zone.ts`; `now` is passed in. */
import { nameOffset, offsetOf, timeZone } from "../../state/time-zone.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const whole = new Intl.NumberFormat("en-US");

/** Returns a count with separators: `12,345`. */
export function formatCount(count: number): string {
  return whole.format(count);
}

/** Returns a count in few characters, six at most: `12.3k`, `4.56M`, `165.7M`. */
export function formatShortCount(count: number): string {
  if (count < 10_000) return formatCount(count);
  if (count < 1_000_000) return `${trim(count / 1_000, 1)}k`;
  if (count < 1_000_000_000) return `${trim(count / 1_000_000, count < 100_000_000 ? 2 : 1)}M`;
  return `${trim(count / 1_000_000_000, count < 100_000_000_000 ? 2 : 1)}B`;
}

function trim(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.0+$|(\.\d*?)0+$/, "$1");
}

const NANODOLLARS = 1_000_000_000;

/**
 * The number of decimals of amounts below a dollar, the same for all so that they line up in a column, and the smallest amount that they
 * show.
 */
const SMALL_DECIMALS = 5;
const MIN_SHOWN = 10 ** -SMALL_DECIMALS;

/** Returns an amount of money: five decimals below a dollar, then two, then none. */
export function formatMoney(nanodollars: number): string {
  if (nanodollars === 0) return "$0.00";
  const sign = nanodollars < 0 ? "−" : "";
  const dollars = Math.abs(nanodollars) / NANODOLLARS;
  if (dollars >= 1_000) return `${sign}$${formatCount(Math.round(dollars))}`;
  if (dollars >= 1) return `${sign}$${dollars.toFixed(2)}`;
  if (dollars < MIN_SHOWN) return `${sign}<$${MIN_SHOWN.toFixed(SMALL_DECIMALS)}`;
  return `${sign}$${dollars.toFixed(SMALL_DECIMALS)}`;
}

/** Returns an exact amount of money: `$0.006416400`. */
export function formatExactMoney(nanodollars: number): string {
  const sign = nanodollars < 0 ? "−" : "";
  const digits = String(Math.abs(Math.round(nanodollars))).padStart(10, "0");
  const dollars = digits.slice(0, -9);
  const rest = digits.slice(-9).replace(/0{1,7}$/, "");
  return `${sign}$${formatCount(Number(dollars))}.${rest}`;
}

/** Returns a price per token as dollars per million tokens: `$2.50`. The price is a decimal text. */
export function formatPricePerMillion(price: string): string {
  const dollars = Number(price) * 1_000_000;
  return `$${dollars >= 0.1 || dollars === 0 ? dollars.toFixed(2) : trim(dollars, 4)}`;
}

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB"];
const KILO = 1_000;

/** Returns a size in decimal units: `840 B`, `12.3 kB`, `1.05 GB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), BYTE_UNITS.length - 1);
  const value = bytes / KILO ** power;
  return `${power === 0 ? value : trim(value, value < 10 ? 2 : value < 100 ? 1 : 0)} ${BYTE_UNITS[power]}`;
}

/** Returns a duration: `840 ms`, `1.24 s`, `2 min 5 s`; a dash for none. */
export function formatDuration(ms: number | null): string {
  if (ms === null) return "–";
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND_MS) return `${(ms / SECOND_MS).toFixed(2)} s`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  const seconds = Math.round(ms / SECOND_MS);
  if (ms < HOUR_MS) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** Returns tokens per second, or a dash if there is no duration or no token. */
export function formatSpeed(tokens: number, ms: number | null): string {
  if (ms === null || ms < 1 || tokens === 0) return "–";
  const speed = (tokens * SECOND_MS) / ms;
  return speed >= 100 ? String(Math.round(speed)) : speed.toFixed(1);
}

/** Returns a share of a whole: `42 %`, `0.3 %`. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent === 0 || percent >= 10) return `${Math.round(percent)} %`;
  return `${percent.toFixed(1)} %`;
}

/** Returns how long ago a time is, or how soon it comes: `12 s ago`, `in 3 d`. */
export function formatRelative(at: number, now: number): string {
  const ms = now - at;
  const text = formatAge(Math.abs(ms));
  if (text === null) return ms >= 0 ? "now" : "soon";
  return ms >= 0 ? `${text} ago` : `in ${text}`;
}

/** Returns how long ago an hour began, for times that are known to the hour: `this hour`, `3 h ago`. */
export function formatRelativeHour(from: number, now: number): string {
  const ms = Math.floor((now - from) / HOUR_MS) * HOUR_MS;
  return ms <= 0 ? "this hour" : `${formatAge(ms)} ago`;
}

/** Returns an hour with its time zone: `23 Nov 2026, 14:00–15:00 UTC+1`. */
export function formatHour(from: number): string {
  return `${print("date", from)}, ${print("clock", from)}–${print("clock", from + HOUR_MS)} ${nameOffset(from)}`;
}

/** Returns a length of time in its largest unit: `12 s`, `3 d`, `14 months`; null for less than a second. */
export function formatAge(ms: number): string | null {
  if (ms < SECOND_MS) return null;
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  if (ms < 60 * DAY_MS) return `${Math.floor(ms / DAY_MS)} d`;
  return `${Math.floor(ms / (30 * DAY_MS))} months`;
}

const FORMATS = {
  exact: { dateStyle: "medium", timeStyle: "medium" },
  date: { dateStyle: "medium" },
  minute: { dateStyle: "medium", timeStyle: "short" },
  day: { day: "numeric", month: "short" },
  clock: { hour: "2-digit", minute: "2-digit" },
  second: { hour: "2-digit", minute: "2-digit", second: "2-digit" },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns a time in a zone, by default the chosen one. */
function print(kind: keyof typeof FORMATS, at: number, zone = timeZone()): string {
  const name = `${kind} ${zone}`;
  let format = formats.get(name);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-GB", { ...FORMATS[kind], timeZone: zone });
    formats.set(name, format);
  }
  return format.format(at);
}

/** Returns a time with its milliseconds and its time zone: `23 Nov 2026, 10:04:03.120 UTC+1`. */
export function formatExactTime(at: number): string {
  return `${print("exact", at)}.${String(at % SECOND_MS).padStart(3, "0")} ${nameOffset(at)}`;
}

/** Returns a time to the minute: `23 Nov 2026, 10:04`. */
export function formatMinute(at: number): string {
  return print("minute", at);
}

/** Returns a time to the minute with its zone, for pages that do not name the zone elsewhere: `23 Nov 2026, 10:04 UTC`. */
export function formatZonedMinute(at: number): string {
  return `${print("minute", at)} ${nameOffset(at)}`;
}

/** Returns a time for a list: the clock with seconds on the day of `now`, otherwise day and clock: `23 Nov 10:04`. */
export function formatListTime(at: number, now: number): string {
  const day = print("day", at);
  const isToday = day === print("day", now) && Math.abs(now - at) < 2 * DAY_MS;
  return isToday ? print("second", at) : `${day} ${print("clock", at)}`;
}

/** Returns the beginning and the end of a period of at most a day: `23 Nov, 10:00 – 10:30`. */
export function formatSpan(from: number, to: number): string {
  const [first, last] = [print("day", from), print("day", to)];
  const end = first === last ? print("clock", to) : `${last}, ${print("clock", to)}`;
  return `${first}, ${print("clock", from)} – ${end}`;
}

/** Returns a date, which stands for the same day in every zone, given as its begin in UTC: `23 Nov`. */
export function formatDate(at: number): string {
  return print("day", at, "UTC");
}

/** Returns a time for an axis over `rangeMs`: the clock within two days, otherwise the day. */
export function formatAxisTime(at: number, rangeMs: number): string {
  if (rangeMs <= DAY_MS) return print("clock", at);
  return rangeMs <= 8 * DAY_MS ? `${print("day", at)} ${print("clock", at)}` : print("day", at);
}

/** Returns a time as RFC 3339 with the offset of the chosen zone, for files: `2026-11-23T10:04:03.120+01:00`. */
export function formatIsoTime(at: number): string {
  const offset = offsetOf(at);
  const local = new Date(at + offset * MINUTE_MS).toISOString();
  if (offset === 0) return local;
  const two = (value: number) => String(value).padStart(2, "0");
  const size = Math.abs(offset);
  return `${local.slice(0, -1)}${offset < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Returns the beginning of an id that tells it from others of its kind: the prefix and the last six characters. */
export function shortenId(id: string): string {
  const [prefix] = id.split("_", 1);
  return id.length > 16 ? `${prefix}_…${id.slice(-6)}` : id;
}
