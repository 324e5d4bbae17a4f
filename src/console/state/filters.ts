/** The filters of the request list and their form in the address. Pure functions. */

/** The ranges of time that end now, in milliseconds. */
export const RANGES = {
  "15m": 900_000,
  "1h": 3_600_000,
  "6h": 21_600_000,
  "24h": 86_400_000,
  "7d": 604_800_000,
  "30d": 2_592_000_000,
} as const;
type Range = keyof typeof RANGES;

/** The range of an address that names none. */
export const USUAL_RANGE: Range = "24h";

/** The filters that are compared with a field of a generation. */
export const FIELDS = [
  "outcome",
  "model",
  "model_contains",
  "provider",
  "error_type",
  "key_id",
  "user_id",
  "team_id",
  "session_id",
  "tag",
  "client",
  "client_version",
  "account_id",
] as const;
export type FieldName = (typeof FIELDS)[number];

const OUTCOMES: readonly string[] = [
  ...["open", "completed", "cached", "failed", "cancelled", "interrupted", "rejected"],
];

/** What the list shows. */
export interface Filters {
  /** A range that ends now, or one between two times in milliseconds. */
  readonly time: { readonly last: Range } | { readonly from: number; readonly to: number };
  readonly fields: Readonly<Partial<Record<FieldName, string>>>;
  /** The id of a generation or of a request; null for all. */
  readonly id: string | null;
}

type Query = Readonly<Record<string, string>>;

/** Reads the filters of an address. Values that are not valid count as absent. */
export function readFilters(query: Query): Filters {
  const fields: Partial<Record<FieldName, string>> = {};
  for (const name of FIELDS) {
    const value = query[name]?.trim();
    if (value && (name !== "outcome" || OUTCOMES.includes(value))) fields[name] = value;
  }
  return { time: readTime(query), fields, id: readId(query["id"]) };
}

function readTime({ last, from, to }: Query): Filters["time"] {
  const [begin, end] = [Date.parse(from ?? ""), Date.parse(to ?? "")];
  if (begin < end) return { from: begin, to: end };
  return { last: last !== undefined && Object.hasOwn(RANGES, last) ? (last as Range) : USUAL_RANGE };
}

function readId(id: string | undefined): string | null {
  return id !== undefined && isRequestId(id) ? id : null;
}

/** Whether a text is the id of a generation or of a request. */
export function isRequestId(text: string): boolean {
  return /^(gen|req)_\w{1,60}$/.test(text);
}

/** Returns the changes of the address's query that make it show the filters. */
export function printFilters({ time, fields, id }: Filters): Record<string, string | null> {
  const printed: Record<string, string | null> = { id, last: null, from: null, to: null };
  if (!("last" in time)) {
    printed["from"] = new Date(time.from).toISOString();
    printed["to"] = new Date(time.to).toISOString();
  } else if (time.last !== USUAL_RANGE) printed["last"] = time.last;
  for (const name of FIELDS) printed[name] = fields[name] ?? null;
  return printed;
}

/** Returns the query of the API for filters. `now` in milliseconds ends no range: new generations belong to it. */
export function toApiQuery({ time, fields, id }: Filters, now: number): Record<string, string> {
  if (id !== null) return { id };
  const values = fields as Readonly<Record<string, string>>;
  if ("last" in time) return { from: new Date(now - RANGES[time.last]).toISOString(), ...values };
  return { from: new Date(time.from).toISOString(), to: new Date(time.to).toISOString(), ...values };
}

/** Whether generations that begin now can match. */
export function isLive({ time, id }: Filters): boolean {
  return "last" in time && id === null;
}

/** Whether anything but the time is filtered. */
export function hasFields({ fields, id }: Filters): boolean {
  return id !== null || Object.keys(fields).length > 0;
}
