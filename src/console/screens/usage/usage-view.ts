/** What the screen "Usage" shows, as its address says. Pure functions. */
import { formatMinute } from "../../parts/values/format.ts";
import { beginOfDay, dateOf } from "../../state/time-zone.ts";

/** What usage is grouped by in the table. */
export const DIMENSIONS = [
  "model",
  "provider",
  "key",
  "user",
  "team",
  "account",
  "client",
  "outcome",
  "tag",
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The filter of usage reports for each dimension that has one. */
export const FILTERS = {
  model: "model",
  provider: "provider",
  key: "key_id",
  user: "user_id",
  team: "team_id",
  account: "account_id",
  client: "client",
  tag: "tag",
} as const;
type FilterName = (typeof FILTERS)[keyof typeof FILTERS];

/** What the chart draws. Times are drawn as percentiles. */
export const METRICS = ["cost", "requests", "errors", "tokens", "cached", "latency", "duration"] as const;
export type Metric = (typeof METRICS)[number];
export type TimeMetric = "latency" | "duration";

/** Returns whether a metric is a time, whose percentiles cannot be added up. */
export function isTime(metric: Metric): metric is TimeMetric {
  return metric === "latency" || metric === "duration";
}

/** The ranges to choose from, by the number of their days. `month` begins with the present month, `last-month` is the one before; `24h` consists of hours. */
const RANGES = { "7d": 7, "30d": 30, "90d": 90, "365d": 365 } as const;
export const RANGE_NAMES = ["24h", "7d", "30d", "90d", "365d", "month", "last-month", "own"] as const;
type RangeName = (typeof RANGE_NAMES)[number];

/** Days in the chosen time zone, as dates; both ends belong to the range. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** The period of the screen, as the API takes it: days, both included, or hours as times, the last one excluded. */
export interface Period extends DayRange {
  readonly step: "day" | "hour";
}

/** The state of the screen. */
export interface UsageView {
  readonly range: RangeName;
  readonly period: Period;
  /** Whether the last day or hour of the period still runs. */
  readonly isRunning: boolean;
  readonly by: Dimension;
  readonly metric: Metric;
  readonly isCompared: boolean;
  /** Whether the chart has a line for each of the largest groups, in place of one for all. */
  readonly isSplit: boolean;
  /** The filters by their names in the API. */
  readonly filters: Readonly<Partial<Record<FilterName, string>>>;
  readonly account: string | null;
  readonly order: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The hours of the range `24h`, the last of which is the present one. */
const HOURS = 24;

/** The maximum number of days of a report. */
export const MAX_DAYS = 366;

/** Returns the date of a day that is a number of milliseconds, as `Date.parse` reads dates. */
function toDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Reads the state from the query of the address. Values that are not valid count as absent. */
export function parseUsageView(query: Readonly<Record<string, string>>, now: number): UsageView {
  const own = parseOwnRange(query);
  const named = RANGE_NAMES.find((name) => name === query["range"] && name !== "own") ?? "30d";
  const range = own === null ? named : "own";
  const period: Period = own === null ? periodOf(named, now) : { step: "day", ...own };
  const { begin, end } = timesOf(period);
  return {
    range,
    period,
    isRunning: begin <= now && now < end,
    by: DIMENSIONS.find((name) => name === query["by"]) ?? "model",
    metric: METRICS.find((name) => name === query["metric"]) ?? "cost",
    isCompared: query["compare"] !== "no",
    isSplit: query["split"] === "yes",
    filters: parseFilters(query),
    account: query["account"] ?? null,
    order: query["sort"] ?? "-cost",
  };
}

function parseFilters(query: Readonly<Record<string, string>>): UsageView["filters"] {
  const { account: _, ...own } = FILTERS;
  const names = Object.values(own);
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}

function parseOwnRange({ from = "", to = "" }: Readonly<Record<string, string>>): DayRange | null {
  if (!isDate(from) || !isDate(to) || from > to) return null;
  return countDays({ from, to }) > MAX_DAYS ? null : { from, to };
}

function isDate(text: string): boolean {
  return DATE.test(text) && !Number.isNaN(Date.parse(text)) && toDate(Date.parse(text)) === text;
}

/** Returns the period of a named range that ends now. */
export function periodOf(name: RangeName, now: number): Period {
  if (name === "24h") {
    const end = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
    return { step: "hour", from: toTime(end - HOURS * HOUR_MS), to: toTime(end) };
  }
  const to = dateOf(now);
  const firstDay = `${to.slice(0, 7)}-01`;
  if (name === "month") return { step: "day", from: firstDay, to };
  if (name === "last-month") {
    const lastDay = toDate(Date.parse(firstDay) - DAY_MS);
    return { step: "day", from: `${lastDay.slice(0, 7)}-01`, to: lastDay };
  }
  const days = name === "own" ? RANGES["30d"] : RANGES[name];
  return { step: "day", from: toDate(Date.parse(to) - (days - 1) * DAY_MS), to };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns the number of days of a range. */
export function countDays({ from, to }: DayRange): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
}

/** Returns when a period begins, and when it ends in the chosen time zone. Milliseconds since the epoch. */
function timesOf(period: Period): { readonly begin: number; readonly end: number } {
  const { begin, end } = boundsOf(period);
  if (period.step === "hour") return { begin, end };
  return { begin: beginOfDay(period.from), end: beginOfDay(toDate(end)) };
}

/** Returns the begin of a period and its end, which is not included, as `Date.parse` reads its dates or times. */
function boundsOf({ step, from, to }: Period): { readonly begin: number; readonly end: number } {
  return { begin: Date.parse(from), end: Date.parse(to) + (step === "day" ? DAY_MS : 0) };
}

/** Returns all days or hours of a period, as lines of reports name them. */
export function listSteps(period: Period): readonly string[] {
  const { begin, end } = boundsOf(period);
  const isDaily = period.step === "day";
  const stepMs = isDaily ? DAY_MS : HOUR_MS;
  const print = isDaily ? toDate : toTime;
  return Array.from({ length: Math.round((end - begin) / stepMs) }, (_, i) => print(begin + i * stepMs));
}

/** Returns the period of the same length before a period. */
export function previousPeriod(period: Period): Period {
  const { begin, end } = boundsOf(period);
  const from = begin - (end - begin);
  if (period.step === "hour") return { step: "hour", from: toTime(from), to: period.from };
  return { step: "day", from: toDate(from), to: toDate(begin - DAY_MS) };
}

/** Returns a period as text, in the chosen time zone. */
export function printPeriod({ step, from, to }: Period): string {
  const print = (time: string) => (step === "day" ? time : formatMinute(Date.parse(time)));
  return from === to ? from : `${print(from)} – ${print(to)}`;
}

/** The outcomes that have a filter of their own in lists of requests; all others are errors. */
const OUTCOMES = ["completed", "cached", "cancelled", "interrupted"];

/** The line with the tags that are not counted individually. */
const OTHER_TAGS = "(other)";

/** Returns the filters of the list of requests that the screen is about. */
export function requestsQuery({ period, account, filters }: UsageView): Readonly<Record<string, string>> {
  const { begin, end } = timesOf(period);
  return {
    from: toTime(begin),
    to: toTime(end),
    ...(account === null ? {} : { account_id: account }),
    ...filters,
  };
}

/** Returns the address of the requests behind a line of the table; null for a line that no filter can name. */
export function requestsLink(view: UsageView, id: string | null): string | null {
  if (id === null || (view.by === "tag" && id === OTHER_TAGS)) return null;
  const search = new URLSearchParams(requestsQuery(view));
  if (view.by !== "outcome") search.set(FILTERS[view.by], id);
  else search.set(OUTCOMES.includes(id) ? "outcome" : "error_type", id);
  return `/console/requests?${search}`;
}
