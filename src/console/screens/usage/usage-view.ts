/** What the screen "Usage" shows, as its address says. Pure functions. */

/** What usage is grouped by in the table. */
export const DIMENSIONS = ["model", "provider", "key", "user", "account"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The filter of the API for each dimension. */
export const FILTERS = {
  model: "model",
  provider: "provider",
  key: "key_id",
  user: "user_id",
  account: "account_id",
} as const;
export type FilterName = (typeof FILTERS)[Dimension];

/** What the chart draws. */
export const METRICS = ["cost", "requests", "errors", "tokens", "cached"] as const;
export type Metric = (typeof METRICS)[number];

/** The ranges to choose from, by the number of their days. `month` begins with the present month. */
export const RANGES = { "7d": 7, "30d": 30, "90d": 90, "365d": 365 } as const;
export const RANGE_NAMES = ["7d", "30d", "90d", "365d", "month", "own"] as const;
export type RangeName = (typeof RANGE_NAMES)[number];

/** Days in UTC, as dates; both ends belong to the range. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** The state of the screen. */
export interface UsageView {
  readonly range: RangeName;
  readonly days: DayRange;
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

const DAY_MS = 86_400_000;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The most days of a report. */
export const MOST_DAYS = 366;

/** Returns the date of a time, in UTC. */
export function toDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Reads the state from the query of the address. Values that are not valid count as absent. */
export function parseUsageView(query: Readonly<Record<string, string>>, now: number): UsageView {
  const own = parseOwnRange(query);
  const named = RANGE_NAMES.find((name) => name === query["range"] && name !== "own") ?? "30d";
  const range = own === null ? named : "own";
  return {
    range,
    days: own ?? daysOf(named, now),
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
  const names = [FILTERS.model, FILTERS.provider, FILTERS.key, FILTERS.user];
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}

function parseOwnRange({ from = "", to = "" }: Readonly<Record<string, string>>): DayRange | null {
  if (!isDate(from) || !isDate(to) || from > to) return null;
  return countDays({ from, to }) > MOST_DAYS ? null : { from, to };
}

function isDate(text: string): boolean {
  return DATE.test(text) && !Number.isNaN(Date.parse(text)) && toDate(Date.parse(text)) === text;
}

/** Returns the days of a named range that ends today. */
export function daysOf(name: RangeName, now: number): DayRange {
  const to = toDate(now);
  if (name === "month") return { from: `${to.slice(0, 7)}-01`, to };
  const days = name === "own" ? RANGES["30d"] : RANGES[name];
  return { from: toDate(now - (days - 1) * DAY_MS), to };
}

/** Returns the number of days of a range. */
export function countDays({ from, to }: DayRange): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
}

/** Returns all days of a range. */
export function listDays(range: DayRange): readonly string[] {
  const first = Date.parse(range.from);
  return Array.from({ length: countDays(range) }, (_, i) => toDate(first + i * DAY_MS));
}

/** Returns the range of the same length that ends the day before a range. */
export function previousDays(range: DayRange): DayRange {
  const first = Date.parse(range.from);
  return { from: toDate(first - countDays(range) * DAY_MS), to: toDate(first - DAY_MS) };
}

/** Returns the address of the requests behind a line of the table; null for a line without an id, which no filter can name. */
export function requestsLink(view: UsageView, id: string | null): string | null {
  if (id === null) return null;
  const search = new URLSearchParams({
    from: `${view.days.from}T00:00:00.000Z`,
    to: new Date(Date.parse(view.days.to) + DAY_MS).toISOString(),
  });
  if (view.account !== null) search.set("account_id", view.account);
  for (const [name, value] of Object.entries(view.filters)) search.set(name, value);
  search.set(FILTERS[view.by], id);
  return `/console/requests?${search}`;
}
