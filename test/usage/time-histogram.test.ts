import { describe, expect, test } from "bun:test";
import {
  addTime,
  BUCKETS,
  createHistogram,
  EXACT_MS,
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

  test("gives each time below 10 ms back as it is", () => {
    for (let ms = 0; ms < EXACT_MS; ms++)
      expect(percentilesOf(histogramOf([ms]))).toEqual({ p50: ms, p90: ms, p99: ms });
    const times = [...new Array(90).fill(0), ...new Array(8).fill(2), 40, 40];
    expect(percentilesOf(histogramOf(times))).toEqual({ p50: 0, p90: 0, p99: 48 });
  });

  test("takes short times that an earlier version has counted as 12 ms, beside those of this version", () => {
    const former = histogramOf([12, 12, 12]).slice(0, BUCKETS);
    expect(percentilesOf(former)?.p50).toBe(12);
    const sum = histogramOf([1, 1]).map((count, at) => count + (former[at] ?? 0));
    expect(percentilesOf(sum)).toEqual({ p50: 12, p90: 12, p99: 12 });
    expect(percentilesOf(histogramOf([1, 1]).map((count, at) => count + (at === 0 ? 1 : 0)))?.p50).toBe(1);
  });

  test("has the times outside of its buckets in the first and the last one", () => {
    const histogram = histogramOf([-5, 0, 3, 10_000_000, Number.MAX_SAFE_INTEGER]);
    expect([histogram[0], histogram[BUCKETS - 1], histogram[BUCKETS]]).toEqual([3, 2, 2]);
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
