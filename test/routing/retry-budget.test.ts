import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { backoffMs } from "../../src/core/routing/health/backoff.ts";
import { createRetryBudget } from "../../src/core/routing/health/retry-budget.ts";

const START = 1_700_000_000_000;

describe("the retry budget", () => {
  /** Returns the number of retries that are allowed at `now`. */
  function drain(budget: ReturnType<typeof createRetryBudget>, now: number): number {
    let retries = 0;
    while (budget.mayRetry("acme", now)) {
      budget.recordRetry("acme", now);
      retries += 1;
    }
    return retries;
  }

  test.each([
    [0, 10],
    [9, 10],
    [10, 11],
    [1_000, 110],
  ])("after %i first attempts allows %i retries", (firsts, retries) => {
    const budget = createRetryBudget();
    for (let at = 0; at < firsts; at++) budget.recordFirst("acme", START);
    expect(drain(budget, START)).toBe(retries);
  });

  test("is unused again after a minute", () => {
    const budget = createRetryBudget();
    expect(drain(budget, START)).toBe(10);
    expect(drain(budget, START + 54_000)).toBe(0);
    expect(drain(budget, START + 60_000)).toBe(10);
  });

  test("is separate for each provider", () => {
    const budget = createRetryBudget();
    drain(budget, START);
    expect(budget.mayRetry("other", START)).toBe(true);
  });

  test("never allows more retries in a minute than the share of first attempts plus the reserve", () => {
    const steps = fc.array(fc.record({ isRetry: fc.boolean(), gapMs: fc.integer({ min: 0, max: 3_000 }) }), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(steps, (list) => {
        const budget = createRetryBudget();
        const seen: { at: number; isRetry: boolean }[] = [];
        let now = START;
        for (const { isRetry, gapMs } of list) {
          now += gapMs;
          if (isRetry && !budget.mayRetry("acme", now)) continue;
          if (isRetry) budget.recordRetry("acme", now);
          else budget.recordFirst("acme", now);
          seen.push({ at: now, isRetry });
          // Slices are five seconds: every window of 55 seconds is within a window that was counted.
          const recent = seen.filter(({ at }) => at > now - 55_000);
          const counted = seen.filter(({ at }) => at > now - 60_000);
          const firsts = counted.filter((each) => !each.isRetry).length;
          const retries = recent.filter((each) => each.isRetry).length;
          if (isRetry) expect(retries).toBeLessThanOrEqual(10 + 0.1 * firsts);
        }
      }),
    );
  });
});

describe("the backoff", () => {
  test.each([
    [0, 200],
    [1, 400],
    [2, 800],
    [3, 1_600],
    [4, 2_000],
    [50, 2_000],
  ])("of retry %i is at most %i ms", (retry, mostMs) => {
    expect(backoffMs(retry, 0)).toBe(0);
    expect(backoffMs(retry, 0.5)).toBe(mostMs / 2);
    expect(backoffMs(retry, 1)).toBe(mostMs);
  });
});
