import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../base/time/time.ts";

/** The ranges of the health history. */
export const HISTORY_RANGES = ["hour", "day", "week"] as const;

export type HistoryRange = (typeof HISTORY_RANGES)[number];

/** How outcomes are summed for a range. */
interface RangeBuckets {
  /** The length of a bucket. Milliseconds. */
  readonly bucketMs: number;
  /** The number of buckets, including the one in progress. */
  readonly count: number;
}

/** Outcomes are summed separately for each range, so that a provider has a few hundred sums, however many requests there are. */
export const RANGE_BUCKETS: Readonly<Record<HistoryRange, RangeBuckets>> = {
  hour: { bucketMs: MINUTE_MS, count: HOUR_MS / MINUTE_MS },
  day: { bucketMs: 15 * MINUTE_MS, count: DAY_MS / (15 * MINUTE_MS) },
  week: { bucketMs: 2 * HOUR_MS, count: (7 * DAY_MS) / (2 * HOUR_MS) },
};

/** How much longer than its range the sums of a range are kept, as a share of it. */
const KEPT_SHARE = 1 + 1 / 7;

/** Returns when the bucket of a time began. Milliseconds since the epoch. */
export function bucketOf(range: HistoryRange, time: number): number {
  const { bucketMs } = RANGE_BUCKETS[range];
  return Math.floor(time / bucketMs) * bucketMs;
}

/** Returns when the first bucket of a range that ends now began. Milliseconds since the epoch. */
export function firstBucketOf(range: HistoryRange, now: number): number {
  const { bucketMs, count } = RANGE_BUCKETS[range];
  return bucketOf(range, now) - (count - 1) * bucketMs;
}

/** Returns the beginning of the oldest bucket that is kept: 8 days for the week. Milliseconds since the epoch. */
export function firstKeptOf(range: HistoryRange, now: number): number {
  const { bucketMs, count } = RANGE_BUCKETS[range];
  return bucketOf(range, now - KEPT_SHARE * count * bucketMs);
}
