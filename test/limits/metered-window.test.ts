import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createMeteredWindow } from "../../src/core/limits/metered-window.ts";

const MINUTE_MS = 60_000;
const START = 1_700_000_000_000;

describe("a window", () => {
  test("forgets an amount exactly when its minute is over", () => {
    const window = createMeteredWindow(MINUTE_MS);
    window.count(5, START);
    expect(window.sum(START + MINUTE_MS - 1)).toBe(5);
    expect(window.sum(START + MINUTE_MS)).toBe(0);
  });

  test("says how long it takes until there is room", () => {
    const window = createMeteredWindow(MINUTE_MS);
    window.count(5, START);
    window.count(3, START + 10_000);
    expect(window.waitUntil(8, START + 10_000)).toBe(0);
    expect(window.waitUntil(7, START + 10_000)).toBe(MINUTE_MS - 10_000);
    expect(window.waitUntil(2, START + 10_000)).toBe(MINUTE_MS);
  });

  test("takes a correction as long as the amount is in it, and none after", () => {
    const window = createMeteredWindow(MINUTE_MS);
    const early = window.count(100, START);
    early.correct(-60);
    expect(window.sum(START)).toBe(40);
    const late = window.count(7, START + MINUTE_MS);
    early.correct(1_000);
    late.correct(1);
    expect(window.sum(START + MINUTE_MS)).toBe(8);
  });

  test("never forgets early, and keeps nothing for more than a sixtieth too long", () => {
    const steps = fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 1, max: 50 })), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const window = createMeteredWindow(MINUTE_MS);
        const counted: { at: number; amount: number }[] = [];
        let now = START;
        for (const [pauseMs, amount] of all) {
          now += pauseMs;
          window.count(amount, now);
          counted.push({ at: now, amount });
          const since = (ms: number) =>
            counted.filter(({ at }) => at > now - ms).reduce((sum, entry) => sum + entry.amount, 0);
          const sum = window.sum(now);
          expect(sum).toBeGreaterThanOrEqual(since(MINUTE_MS));
          expect(sum).toBeLessThanOrEqual(since(MINUTE_MS + MINUTE_MS / 60));
        }
      }),
    );
  });
});
