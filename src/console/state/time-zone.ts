import { signal } from "@preact/signals";
import { readStored, store } from "./stored.ts";

/** In which time zone times are shown. */
type ZoneChoice = "browser" | "utc";

/** The IANA name of the zone of the browser. */
export const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The chosen zone. All times of the console follow it: lists, charts, hints and exports. */
export const zone = signal<ZoneChoice>(readStored("zone") === "utc" ? "utc" : "browser");

/** Chooses a zone and stores the choice in this browser. */
export function chooseZone(chosen: ZoneChoice): void {
  zone.value = chosen;
  store("zone", chosen === "browser" ? null : chosen);
}

/** Returns the IANA name of the zone in which times are shown. A component that reads it is drawn again when another is chosen. */
export function timeZone(): string {
  return zone.value === "utc" ? "UTC" : browserZone;
}

const offsets = new Map<string, Intl.DateTimeFormat>();

/** Returns how far a zone is ahead of UTC at a time, in minutes. */
export function offsetOf(at: number, name = timeZone()): number {
  if (name === "UTC") return 0;
  let format = offsets.get(name);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
    offsets.set(name, format);
  }
  const text = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign, hours, minutes] = /^GMT([+-])(\d+):(\d+)/.exec(text) ?? [];
  if (hours === undefined) return 0;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** Returns the zone in short form, as its distance from UTC at a time: `UTC`, `UTC+1`, `UTC+5:30`. */
export function nameOffset(at: number): string {
  const offset = offsetOf(at);
  if (offset === 0) return "UTC";
  const minutes = Math.abs(offset) % 60;
  const hours = Math.floor(Math.abs(offset) / 60);
  return `UTC${offset < 0 ? "−" : "+"}${hours}${minutes === 0 ? "" : `:${String(minutes).padStart(2, "0")}`}`;
}

const MINUTE_MS = 60_000;
const DATE_CHARS = "YYYY-MM-DD".length;

/** Returns the date of a time in the chosen zone: `2026-11-23`. */
export function dateOf(at: number): string {
  return new Date(at + offsetOf(at) * MINUTE_MS).toISOString().slice(0, DATE_CHARS);
}

/** Returns when a day begins in the chosen zone. Milliseconds since the epoch. */
export function beginOfDay(date: string): number {
  const utc = Date.parse(date);
  // The distance from UTC is that of the day's begin, which may differ from that of midnight in UTC.
  return utc - offsetOf(utc - offsetOf(utc) * MINUTE_MS) * MINUTE_MS;
}

/** Returns whether the browser's zone differs from UTC at a time: otherwise there is nothing to choose. */
export function isZoneChoice(at: number): boolean {
  return offsetOf(at, browserZone) !== 0;
}
