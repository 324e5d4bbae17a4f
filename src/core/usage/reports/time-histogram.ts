import type { Percentiles } from "../../../base/numbers/percentiles.ts";

/**
 * The numbers of times by their length, in buckets that never change, so that histograms of several hours or keys are merged by adding
 * them. The upper bound of a bucket is √2 times its lower bound.
 */
export type TimeHistogram = number[];

export const BUCKETS = 32;

/** The lower bound of the first bucket, which also has all shorter times. The last one begins at 463 seconds. Milliseconds. */
const MIN_MS = 10;
/** The number of buckets in which the bounds double. */
const PER_DOUBLING = 2;

/** Returns a histogram without times. */
export function createHistogram(): TimeHistogram {
  return new Array<number>(BUCKETS).fill(0);
}

/** Adds a time in milliseconds. */
export function addTime(histogram: TimeHistogram, ms: number): void {
  const bucket = bucketOf(ms);
  histogram[bucket] = (histogram[bucket] as number) + 1;
}

function bucketOf(ms: number): number {
  // Also for a negative time, as after a change of the clock.
  if (!(ms > MIN_MS)) return 0;
  return Math.min(BUCKETS - 1, Math.floor(PER_DOUBLING * Math.log2(ms / MIN_MS)));
}

/**
 * Returns percentiles in milliseconds, or null without times. Each is the geometric middle of the bucket of a time, which differs from the
 * time by at most 19 percent: by the fourth root of 2.
 */
export function percentilesOf(histogram: Readonly<TimeHistogram>): Percentiles | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const at = (share: number) => middleOf(bucketAt(histogram, Math.ceil(total * share)));
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) };
}

/** Returns the bucket of the `rank`th shortest time. */
function bucketAt(histogram: Readonly<TimeHistogram>, rank: number): number {
  let left = rank;
  for (const [bucket, count] of histogram.entries()) {
    left -= count;
    if (left <= 0) return bucket;
  }
  return BUCKETS - 1;
}

function middleOf(bucket: number): number {
  return Math.round(MIN_MS * 2 ** ((bucket + 0.5) / PER_DOUBLING));
}
