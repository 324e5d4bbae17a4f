import { describe, expect, test } from "bun:test";
import {
  addTime,
  BUCKETS,
  createHistogram,
  percentilesOf,
} from "../../src/core/usage/reports/time-histogram.ts";

const histogramOf = (times: readonly number[]) => {
  const histogram = createHistogram();
  for (const ms of times) addTime(histogram, ms);
  return histogram;
};

describe("a histogram of times", () => {
  test("gives each time between 10 ms and 11 minutes back with an error of at most 19 percent", () => {
    for (let ms = 10; ms < 650_000; ms = Math.ceil(ms * 1.01)) {
      const found = percentilesOf(histogramOf([ms]))?.p50 ?? Number.NaN;
      // The middle of a bucket is rounded to a millisecond.
      expect(Math.abs(found - ms)).toBeLessThanOrEqual(ms * (2 ** 0.25 - 1) + 0.5);
    }
  });

  test("has the times outside of its buckets in the first and the last one", () => {
    const histogram = histogramOf([-5, 0, 3, 10_000_000, Number.MAX_SAFE_INTEGER]);
    expect([histogram[0], histogram[BUCKETS - 1]]).toEqual([3, 2]);
  });

  test("has the percentiles of all times when histograms are added up", () => {
    const times = Array.from({ length: 1_000 }, (_, n) => 50 + ((n * 7_919) % 1_000) * 30);
    const [some, others] = [histogramOf(times.slice(0, 300)), histogramOf(times.slice(300))];
    const sum = some.map((count, at) => count + (others[at] ?? 0));
    expect(percentilesOf(sum)).toEqual(percentilesOf(histogramOf(times)));
    const sorted = times.toSorted((a, b) => a - b);
    for (const [name, share] of [
      ["p50", 0.5],
      ["p90", 0.9],
      ["p99", 0.99],
    ] as const) {
      const exact = sorted[Math.ceil(share * 1_000) - 1] ?? Number.NaN;
      expect((percentilesOf(sum)?.[name] ?? 0) / exact).toBeWithin(1 / 1.2, 1.2);
    }
  });

  test("has no percentiles without times", () => {
    expect(percentilesOf(createHistogram())).toBeNull();
  });
});
