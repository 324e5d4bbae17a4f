import { fail } from "../../base/errors.ts";

/** What a report of usage can be grouped by. */
export const USAGE_GROUPS = ["day", "model", "provider", "key", "user", "account"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Which usage a report is about. Days are counted from the epoch, in UTC; both ends belong to it. */
export interface UsageQuery {
  readonly groupBy: UsageGroup;
  readonly fromDay: number;
  readonly toDay: number;
  /** Null: of all. */
  readonly accountId: string | null;
  readonly userId: string | null;
  readonly keyId: string | null;
}

/** A line of a report. */
export interface UsageSum {
  /** The day, the model's id and so on; null for usage that belongs to none. */
  readonly group: string | null;
  readonly requests: number;
  /** Of those: failed or cut short by the gateway's death. */
  readonly errors: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** What was paid, and the providers' list price; nanodollars. */
  readonly cost: number;
  readonly upstreamCost: number;
}

const DAY_MS = 86_400_000;
/** Days of a report that does not say which. */
export const USUAL_DAYS = 30;
const MOST_DAYS = 366;

/** The day (UTC) of a time in milliseconds, counted from the epoch. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** `YYYY-MM-DD` of a day. */
export function nameOfDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
}

/**
 * The days of a report, `YYYY-MM-DD`, both ends with it; left out, the last 30.
 * @throws GatewayError `invalid_request` for days that are none, in the wrong order or too far apart.
 */
export function readDays(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): Pick<UsageQuery, "fromDay" | "toDay"> {
  const toDay = to === undefined ? dayOf(now) : readDay("to", to);
  const fromDay = from === undefined ? toDay - USUAL_DAYS + 1 : readDay("from", from);
  if (fromDay > toDay) refuse("from", "must not be later than to");
  if (toDay - fromDay >= MOST_DAYS) refuse("from", `must be at most ${MOST_DAYS - 1} days before to`);
  return { fromDay, toDay };
}

function readDay(field: string, text: string): number {
  const day = dayOf(Date.parse(text));
  return /^\d{4}-\d\d-\d\d$/.test(text) && Number.isFinite(day)
    ? day
    : refuse(field, "must be a day, such as 2027-01-31");
}

function refuse(field: string, problem: string): never {
  return fail("invalid_request", `${field} ${problem}.`, { metadata: { field } });
}
