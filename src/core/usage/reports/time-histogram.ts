import type { Percentiles } from "../../../base/numbers/percentiles.ts";

/**
 * The numbers of times by their length, in buckets that never change, so that histograms of several hours or keys are merged by adding
 * them. The upper bound of a bucket is √2 times its lower bound. The first bucket has all times below 14 ms; further buckets at the end count
 * those below 10 ms once more, each by its millisecond, which version 0.2 does not do.
 */
export type TimeHistogram = number[];

/** The number of buckets without those of single milliseconds. */
export const BUCKETS = 32;
/** The number of buckets of single milliseconds, from 0 on. They are also in the first bucket. */
export const EXACT_MS = 10;

/** The lower bound of the first bucket, which also has all shorter times. The last one begins at 463 seconds. Milliseconds. */
const MIN_MS = 10;
/** The number of buckets in which the bounds double. */
const PER_DOUBLING = 2;

/** Returns a histogram without times. */
export function createHistogram(): TimeHistogram {
  return new Array<number>(BUCKETS + EXACT_MS).fill(0);
}

/** Adds a time in milliseconds. */
export function addTime(histogram: TimeHistogram, ms: number): void {
  count(histogram, bucketOf(ms));
  if (ms < EXACT_MS) count(histogram, BUCKETS + Math.max(0, Math.floor(ms)));
}

function count(histogram: TimeHistogram, bucket: number): void {
  histogram[bucket] = (histogram[bucket] as number) + 1;
}

function bucketOf(ms: number): number {
  // Also for a negative time, as after a change of the clock.
  if (!(ms > MIN_MS)) return 0;
  return Math.min(BUCKETS - 1, Math.floor(PER_DOUBLING * Math.log2(ms / MIN_MS)));
}

/**
 * Returns percentiles in milliseconds, or null without times. Below 10 ms they are exact. Above, each is the geometric middle of the bucket of a
 * time, which differs from the time by at most 19 percent: by the fourth root of 2. Times below 14 ms that version 0.2 has counted are taken as
 * 12 ms.
 */
export function percentilesOf(histogram: Readonly<TimeHistogram>): Percentiles | null {
  const steps = listSteps(histogram);
  const total = steps.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  const at = (share: number) => timeAt(steps, Math.ceil(total * share));
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) };
}

/** A time, and how many times are taken as it. */
interface Step {
  readonly ms: number;
  readonly count: number;
}

/** Returns the times of a histogram in ascending order. */
function listSteps(histogram: Readonly<TimeHistogram>): readonly Step[] {
  const exact = histogram.slice(BUCKETS).map((count, ms) => ({ ms, count }));
  const below = exact.reduce((sum, { count }) => sum + count, 0);
  const others = histogram.slice(0, BUCKETS).map((count, bucket) => ({
    ms: middleOf(bucket),
    count: bucket === 0 ? Math.max(0, count - below) : count,
  }));
  return [...exact, ...others];
}

/** Returns the `rank`th shortest time. */
function timeAt(steps: readonly Step[], rank: number): number {
  let left = rank;
  for (const { ms, count } of steps) {
    left -= count;
    if (left <= 0) return ms;
  }
  return middleOf(BUCKETS - 1);
}

function middleOf(bucket: number): number {
  return Math.round(MIN_MS * 2 ** ((bucket + 0.5) / PER_DOUBLING));
}
