import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SlidingSum } from "../../src/base/numbers/sliding-sum.ts";

const MINUTE_MS = 60_000;
const START = 1_700_000_000_000;

describe("a sliding sum", () => {
  test("drops an amount exactly when its window is over", () => {
    const sum = new SlidingSum(MINUTE_MS, MINUTE_MS / 60);
    sum.add(5, START);
    expect(sum.at(START + MINUTE_MS - 1)).toBe(5);
    expect(sum.at(START + MINUTE_MS)).toBe(0);
  });

  test("returns the time until it is at most a ceiling", () => {
    const sum = new SlidingSum(MINUTE_MS, MINUTE_MS / 60);
    sum.add(5, START);
    sum.add(3, START + 10_000);
    expect(sum.waitUntil(8, START + 10_000)).toBe(0);
    expect(sum.waitUntil(7, START + 10_000)).toBe(MINUTE_MS - 10_000);
    expect(sum.waitUntil(2, START + 10_000)).toBe(MINUTE_MS);
  });

  test("accepts a correction of an amount until the amount has left the window", () => {
    const sum = new SlidingSum(MINUTE_MS, MINUTE_MS / 60);
    const early = sum.add(100, START);
    early.correct(-60);
    expect(sum.at(START)).toBe(40);
    const late = sum.add(7, START + MINUTE_MS);
    early.correct(1_000);
    late.correct(1);
    expect(sum.at(START + MINUTE_MS)).toBe(8);
  });

  test("never drops an amount early, and keeps none for more than one slice too long", () => {
    const steps = fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 1, max: 50 })), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const sum = new SlidingSum(MINUTE_MS, MINUTE_MS / 60);
        const counted: { at: number; amount: number }[] = [];
        let now = START;
        for (const [pauseMs, amount] of all) {
          now += pauseMs;
          sum.add(amount, now);
          counted.push({ at: now, amount });
          const since = (ms: number) =>
            counted.filter(({ at }) => at > now - ms).reduce((sum, entry) => sum + entry.amount, 0);
          const total = sum.at(now);
          expect(total).toBeGreaterThanOrEqual(since(MINUTE_MS));
          expect(total).toBeLessThanOrEqual(since(MINUTE_MS + MINUTE_MS / 60));
        }
      }),
    );
  });

  test("returns for every ceiling the time at which the sum really falls to it", () => {
    const steps = fc.array(fc.tuple(fc.nat(8_000), fc.nat(3)), { maxLength: 25 });
    fc.assert(
      fc.property(steps, fc.integer({ min: -1, max: 40 }), (all, ceiling) => {
        const fill = () => {
          const sum = new SlidingSum(MINUTE_MS, MINUTE_MS / 60);
          let now = START;
          for (const [pauseMs, amount] of all) {
            now += pauseMs;
            sum.add(amount, now);
          }
          return { sum, now };
        };
        const { sum, now } = fill();
        const waitMs = sum.waitUntil(ceiling, now);
        if (ceiling >= 0) expect(sum.at(now + waitMs)).toBeLessThanOrEqual(ceiling);
        if (waitMs > 0) expect(fill().sum.at(now + waitMs - 1)).toBeGreaterThan(ceiling);
      }),
    );
  });
});
