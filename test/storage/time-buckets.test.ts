import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time/time.ts";
import { chooseBuckets } from "../../src/core/usage/reports/time-buckets.ts";

const NOON = Date.UTC(2027, 0, 31, 12);

describe("chooseBuckets", () => {
  test("covers an hour with periods of a minute", () => {
    expect(chooseBuckets(NOON - HOUR_MS, NOON, 60)).toEqual({
      fromMs: NOON - HOUR_MS,
      toMs: NOON,
      bucketMs: MINUTE_MS,
    });
  });

  test("begins and ends periods at multiples of their length", () => {
    const { fromMs, toMs, bucketMs } = chooseBuckets(NOON - DAY_MS + 1, NOON + 1, 60);
    expect([fromMs, toMs, bucketMs]).toEqual([NOON - DAY_MS, NOON + 30 * MINUTE_MS, 30 * MINUTE_MS]);
  });

  test.each([1, 2, 7, 60, 120])("covers every range with at most %d periods", (most) => {
    for (const length of [1, 999, 59_999, HOUR_MS + 1, 7 * DAY_MS, 400 * DAY_MS, 9_000 * DAY_MS]) {
      const { fromMs, toMs, bucketMs } = chooseBuckets(NOON - length, NOON, most);
      expect(fromMs).toBeLessThanOrEqual(NOON - length);
      expect(toMs).toBeGreaterThanOrEqual(NOON);
      expect(Math.ceil((toMs - fromMs) / bucketMs)).toBeLessThanOrEqual(most);
    }
  });
});
