import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time/time.ts";

/** Consecutive periods of the same length. */
interface TimeBuckets {
  /** The begin of the first period, a multiple of the length. Milliseconds since the epoch. */
  readonly fromMs: number;
  /** The end of the last period. */
  readonly toMs: number;
  readonly bucketMs: number;
}

/** Lengths of periods that people read easily. Milliseconds. */
const STEPS: readonly number[] = [
  ...[1, 5, 10, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 5, 10, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 7, 30, 365, 3_650].map((days) => days * DAY_MS),
];

/** Returns periods of the shortest length such that at most `most` of them cover a range of time. */
export function chooseBuckets(fromMs: number, toMs: number, most: number): TimeBuckets {
  const covering = STEPS.map((bucketMs) => ({
    fromMs: Math.floor(fromMs / bucketMs) * bucketMs,
    toMs: Math.ceil(toMs / bucketMs) * bucketMs,
    bucketMs,
  }));
  const fits = covering.find((buckets) => (buckets.toMs - buckets.fromMs) / buckets.bucketMs <= most);
  return fits ?? { fromMs, toMs, bucketMs: Math.max(1, Math.ceil((toMs - fromMs) / most)) };
}
