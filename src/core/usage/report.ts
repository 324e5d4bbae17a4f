import { fail } from "../../base/errors.ts";
import { dayOf, parseDay } from "../../base/time.ts";

/** The dimensions by which a usage report can be grouped. */
export const USAGE_GROUPS = ["day", "model", "provider", "key", "user", "account"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The usage that a report covers. Days are counted from the epoch, in UTC; both ends belong to the report. */
export interface UsageQuery {
  readonly groupBy: UsageGroup;
  readonly fromDay: number;
  readonly toDay: number;
  /** Null: of every account; `userId` and `keyId` likewise. */
  readonly accountId: string | null;
  readonly userId: string | null;
  readonly keyId: string | null;
}

/** One line of a usage report. */
export interface UsageSum {
  /** The value of the dimension: a day, a model's id and so on; null for usage without one. */
  readonly group: string | null;
  readonly requests: number;
  /** Requests that failed, or were interrupted because the gateway died. */
  readonly errors: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** Charged cost and the providers' list price, in nanodollars. */
  readonly cost: number;
  readonly upstreamCost: number;
}

/** The number of days in a report that names none. */
export const USUAL_DAYS = 30;
const MOST_DAYS = 366;

/**
 * Parses the first and last day of a report (`YYYY-MM-DD`, both included). Defaults to the last 30 days.
 * @throws GatewayError `invalid_request` for days that are malformed, in the wrong order or too far apart.
 */
export function readDays(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): Pick<UsageQuery, "fromDay" | "toDay"> {
  const toDay = to === undefined ? dayOf(now) : readDay("to", to);
  const fromDay = from === undefined ? toDay - USUAL_DAYS + 1 : readDay("from", from);
  if (fromDay > toDay) rejectField("from", "must not be later than to");
  if (toDay - fromDay >= MOST_DAYS) rejectField("from", `must be at most ${MOST_DAYS - 1} days before to`);
  return { fromDay, toDay };
}

function readDay(field: string, text: string): number {
  return parseDay(text) ?? rejectField(field, "must be a day, such as 2027-01-31");
}

function rejectField(field: string, problem: string): never {
  return fail("invalid_request", `${field} ${problem}.`, { metadata: { field } });
}
