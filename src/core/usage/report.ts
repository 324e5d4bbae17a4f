import { fail } from "../../base/errors.ts";
import { dayOf, parseDay } from "../../base/time.ts";

/** The dimensions by which a usage report can be grouped. */
export const USAGE_GROUPS = ["day", "model", "provider", "key", "user", "account"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The usage that a report covers. Days are counted from the epoch, in UTC; both ends belong to the report. */
export interface UsageQuery {
  readonly groupBy: UsageGroup;
  /** A second dimension: the report has a line for each pair of values. Absent: none. */
  readonly thenBy?: UsageGroup | null;
  readonly fromDay: number;
  readonly toDay: number;
  /** Null: of every account; `userId` and `keyId` likewise. */
  readonly accountId: string | null;
  readonly userId: string | null;
  readonly keyId: string | null;
  /** Absent or null: of every model; `provider` likewise. */
  readonly model?: string | null;
  readonly provider?: string | null;
}

/** One line of a usage report. */
export interface UsageSum {
  /** The value of the dimension: a day, a model's id and so on; null for usage without one. */
  readonly group: string | null;
  /** The value of the second dimension, if the report has one. */
  readonly subgroup?: string | null;
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

/** The most lines of a report by two dimensions. */
const MOST_LINES = 10_000;

/** The number of lines that a store returns at most: one more than a report may have, so that an excess is noticed. */
export function mostLinesOf({ thenBy }: Pick<UsageQuery, "thenBy">): number | null {
  return thenBy == null ? null : MOST_LINES + 1;
}

/**
 * Checks that a report is not too long.
 * @throws GatewayError `invalid_request`.
 */
export function requireLines(sums: readonly UsageSum[], { thenBy }: Pick<UsageQuery, "thenBy">): void {
  if (thenBy == null || sums.length <= MOST_LINES) return;
  rejectField(
    "group_by",
    `gives more than ${MOST_LINES} lines. Choose fewer days, a filter, or one dimension`,
  );
}

/**
 * Parses the dimensions of a report: one name, or two with a comma between them.
 * @throws GatewayError `invalid_request`.
 */
export function readGroups(text: string): Pick<UsageQuery, "groupBy" | "thenBy"> {
  const names = text.split(",");
  const [groupBy, thenBy = null] = names.map((name) => USAGE_GROUPS.find((group) => group === name.trim()));
  if (groupBy === undefined || thenBy === undefined || groupBy === thenBy || names.length > 2)
    rejectField(
      "group_by",
      `must be one of ${USAGE_GROUPS.join(", ")}, or two different ones such as day,model`,
    );
  return { groupBy, thenBy };
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
