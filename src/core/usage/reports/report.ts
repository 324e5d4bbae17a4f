import { rejectField } from "../../../base/failures/errors.ts";
import {
  type DayRange,
  formatDay,
  formatTime,
  HOUR_MS,
  HOURS_OF_DAY,
  parseDay,
} from "../../../base/time/time.ts";
import { TimeZone } from "../../../base/time/time-zone.ts";
import type { UsageCounters } from "./usage-sums.ts";

/** The dimensions by which a usage report can be grouped. */
export const USAGE_GROUPS = [
  "hour",
  "day",
  "model",
  "provider",
  "key",
  "user",
  "team",
  "account",
  "outcome",
  "client",
  "tag",
] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The maximum number of dimensions of a report. */
export const MAX_GROUPS = 3;

/** The hours that a report covers, counted from the epoch; both ends belong to it. */
export interface HourRange {
  readonly fromHour: number;
  readonly toHour: number;
  /**
   * The days (UTC) whose sums belong to the report if their hours are no longer stored. Absent: those that are entirely in the range. In a
   * time zone, they are those with the same dates as the days of the range.
   */
  readonly wholeDays?: DayRange;
}

/** From an hour on, how many minutes the days of a report are ahead of those in UTC. */
export interface DayOffset {
  readonly fromHour: number;
  readonly minutes: number;
}

/** The usage that a report covers. */
export interface UsageQuery extends HourRange {
  /** One to three different dimensions: the report has a line for each combination of their values. */
  readonly groups: readonly UsageGroup[];
  /** Null: of every account; `userId` and `keyId` likewise. */
  readonly accountId: string | null;
  readonly userId: string | null;
  readonly keyId: string | null;
  /** Only of the keys of this team. Absent or null: of every key. */
  readonly teamId?: string | null;
  /** The days of a time zone, in the order of time. Absent: days are those in UTC. */
  readonly dayOffsets?: readonly DayOffset[];
  /** Absent or null: of every model; `provider` likewise. */
  readonly model?: string | null;
  readonly provider?: string | null;
  /** The family of clients. Absent or null: of every client; not together with `tag`. */
  readonly client?: string | null;
  /** Absent or null: requests without tags as well. */
  readonly tag?: string | null;
}

/** One line of a usage report. */
export interface UsageSum extends Readonly<UsageCounters> {
  /**
   * The values of the dimensions, such as a day or a model's id; null for usage without one, such as the team of a key that has none. The hour is null for a day whose hours are no
   * longer stored, the outcome for a day that an earlier version has saved, the client for requests whose client is not known, and the tag for
   * requests without tags. A request with several tags counts for each of them.
   */
  readonly groups: readonly (string | null)[];
}

/** The maximum number of lines of a report. */
const MAX_LINES = 10_000;
/** The maximum number of lines that a store returns: one more than a report may have, so that an excess is noticed. */
export const LINES_READ = MAX_LINES + 1;

type Groups = Pick<UsageQuery, "groups">;

/** The lines of a report, and whether these are all. */
export interface ReportLines {
  readonly sums: readonly UsageSum[];
  readonly isComplete: boolean;
}

type About = Pick<UsageQuery, "groups" | "tag" | "client">;

/** Returns whether a report is about tags. */
export function isOfTags({ groups, tag = null }: About): boolean {
  return tag !== null || groups.includes("tag");
}

/** Returns whether a report is about clients. */
export function isOfClients({ groups, client = null }: About): boolean {
  return client !== null || groups.includes("client");
}

/** Returns whether the times of a report are stored: not by tag, and not by client. */
export function hasTimes(about: About): boolean {
  return !isOfTags(about) && !isOfClients(about);
}

/** @throws GatewayError `invalid_request` for a report about tags and clients, for which no sums are stored. */
export function rejectTagsOfClients(about: About): void {
  if (isOfTags(about) && isOfClients(about))
    rejectField(
      about.groups.includes("client") ? "group_by" : "client",
      "cannot be combined with tags, because usage is summed by client or by tag. Make two reports",
    );
}

/** Returns whether the lines of a report are in the order of time. Others begin with the highest cost. */
export function isOverTime({ groups }: Groups): boolean {
  return groups.includes("day") || groups.includes("hour");
}

/**
 * Returns the lines of a report. If a report by one dimension is too long, returns the lines with the highest cost.
 * @throws GatewayError `invalid_request` if a report by several dimensions is too long.
 */
export function takeLines(sums: readonly UsageSum[], { groups }: Groups): ReportLines {
  if (sums.length <= MAX_LINES) return { sums, isComplete: true };
  if (groups.length === 1) return { sums: sums.slice(0, MAX_LINES), isComplete: false };
  return rejectField(
    "group_by",
    `gives more than ${MAX_LINES} lines. Choose a shorter time, a filter, or fewer dimensions`,
  );
}

/** The text that marks an incomplete report. */
export const INCOMPLETE = `The report has more than ${MAX_LINES} lines. These are the lines with the highest cost; for the others, choose a shorter time or a filter.`;

/**
 * Parses the dimensions of a report: up to three names with commas between them.
 * @throws GatewayError `invalid_request`.
 */
export function readGroups(text: string): readonly UsageGroup[] {
  const names = text.split(",", MAX_GROUPS + 1).map((name) => name.trim());
  const groups = names.flatMap((name) => USAGE_GROUPS.find((group) => group === name) ?? []);
  if (groups.length < names.length || new Set(groups).size < names.length || names.length > MAX_GROUPS)
    rejectField(
      "group_by",
      `must be one of ${USAGE_GROUPS.join(", ")}, or up to ${MAX_GROUPS} different ones such as hour,provider`,
    );
  return groups;
}

/** The number of days in a report that names none. */
export const USUAL_DAYS = 30;
/** The number of hours in a report by hour that names none. */
const USUAL_HOURS = 24;
const MAX_DAYS = 366;

/** The part of a request that selects the time of a report. */
interface RangeInput {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** How the time of a report is read. */
interface RangeContext extends Groups {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The time zone of days. */
  readonly zone: TimeZone;
}

/**
 * Parses the begin and the end of a report: days (`YYYY-MM-DD`, both included), or times on the hour (RFC 3339), of which the end is not
 * included. Defaults to the last 30 days, or 24 hours if the report is by hour.
 * @throws GatewayError `invalid_request` for times that are malformed, in the wrong order or too far apart.
 */
export function readRange({ from, to }: RangeInput, { groups, now, zone }: RangeContext): HourRange {
  const isByHour = groups.includes("hour");
  const presentHour = Math.floor(now / HOUR_MS);
  const present = isByHour ? presentHour : lastHourOf(zone.dayOf(now), zone);
  const toHour = to === undefined ? present : readHour("to", to, zone).last;
  const usualFrom = isByHour
    ? toHour - USUAL_HOURS + 1
    : firstHourOf(zone.dayOf(toHour * HOUR_MS) - USUAL_DAYS + 1, zone);
  const fromHour = from === undefined ? usualFrom : readHour("from", from, zone).first;
  if (fromHour > toHour) rejectField("from", "must be before to");
  if (toHour - fromHour >= MAX_DAYS * HOURS_OF_DAY)
    rejectField("from", `must be at most ${MAX_DAYS - 1} days before to`);
  return zone === TimeZone.UTC
    ? { fromHour, toHour }
    : { fromHour, toHour, wholeDays: listDays(fromHour, toHour, zone) };
}

/** Returns the days of a time zone that are entirely between two hours. */
function listDays(fromHour: number, toHour: number, zone: TimeZone): DayRange {
  const [first, last] = [zone.dayOf(fromHour * HOUR_MS), zone.dayOf(toHour * HOUR_MS)];
  return {
    from: firstHourOf(first, zone) < fromHour ? first + 1 : first,
    to: lastHourOf(last, zone) > toHour ? last - 1 : last,
  };
}

/** Returns the hours of whole days in UTC, both included. */
export function hoursOfDays(fromDay: number, toDay: number): HourRange {
  return { fromHour: fromDay * HOURS_OF_DAY, toHour: (toDay + 1) * HOURS_OF_DAY - 1 };
}

/** Returns the first hour that begins in a day. */
function firstHourOf(day: number, zone: TimeZone): number {
  return Math.ceil(zone.startOf(day) / HOUR_MS);
}

function lastHourOf(day: number, zone: TimeZone): number {
  return firstHourOf(day + 1, zone) - 1;
}

/** Returns the days of a time zone for the statements of a report; null if they are those in UTC. */
export function listDayOffsets(zone: TimeZone, { fromHour, toHour }: HourRange): readonly DayOffset[] | null {
  const offsets = zone.listOffsets(fromHour * HOUR_MS, toHour * HOUR_MS);
  if (offsets.every(({ minutes }) => minutes === 0)) return null;
  return offsets.map(({ fromMs, minutes }) => ({ fromHour: fromMs / HOUR_MS, minutes }));
}

/** Returns whether the days of a report begin with an hour of UTC, by which usage is summed. */
export function beginOnTheHour(offsets: readonly DayOffset[]): boolean {
  return offsets.every(({ minutes }) => minutes % MINUTES_OF_HOUR === 0);
}

const MINUTES_OF_HOUR = 60;

/** Formats a range as `readRange` reads it: as days if it begins and ends with one. */
export function formatRange(
  { fromHour, toHour }: HourRange,
  zone: TimeZone,
): { readonly from: string; readonly to: string } {
  const [from, to] = [zone.dayOf(fromHour * HOUR_MS), zone.dayOf(toHour * HOUR_MS)];
  if (firstHourOf(from, zone) === fromHour && lastHourOf(to, zone) === toHour)
    return { from: formatDay(from), to: formatDay(to) };
  return { from: formatTime(fromHour * HOUR_MS), to: formatTime((toHour + 1) * HOUR_MS) };
}

/**
 * Returns the time zone with a name.
 * @throws GatewayError `invalid_request` if there is none.
 */
export function readZone(name: string | undefined): TimeZone {
  if (name === undefined) return TimeZone.UTC;
  return (
    TimeZone.find(name) ??
    rejectField("timezone", "must be a time zone of the IANA database, such as Europe/Berlin")
  );
}

/** The text that marks a report whose days are not exactly those of its time zone. */
export const INEXACT_DAYS =
  "Usage is summed by hours of UTC, and older usage by days of UTC. Some days of this report contain requests of the day before or after in the time zone.";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;

/** Returns the hours of a text: the first hour of a range that begins with it, and the last hour of a range that ends with it. */
function readHour(
  field: string,
  text: string,
  zone: TimeZone,
): { readonly first: number; readonly last: number } {
  const day = parseDay(text);
  if (day !== null) return { first: firstHourOf(day, zone), last: lastHourOf(day, zone) };
  const hour = TIME.test(text) ? Date.parse(text) / HOUR_MS : Number.NaN;
  if (Number.isInteger(hour)) return { first: hour, last: hour - 1 };
  return rejectField(
    field,
    "must be a day, such as 2027-01-31, or a full hour, such as 2027-01-31T13:00:00Z",
  );
}
