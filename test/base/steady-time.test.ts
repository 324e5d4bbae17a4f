import { beforeEach, describe, expect, test } from "bun:test";
import { createSteadyTime } from "../../src/base/time/steady-time.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/base/time/time.ts";

const START_MS = 1_700_000_000_000;

describe("a steady time", () => {
  let wall: number;
  let elapsed: number;
  let now: () => number;

  beforeEach(() => {
    wall = START_MS;
    elapsed = 5_000;
    now = createSteadyTime(
      () => Math.floor(wall),
      () => elapsed,
    );
  });

  function pass(ms: number): void {
    wall += ms;
    elapsed += ms;
  }

  test("is the time of the system, in whole milliseconds, as long as its clock is not set", () => {
    for (let turn = 0; turn < 1_000; turn++) {
      pass(0.3);
      const read = now();
      expect(Number.isInteger(read)).toBe(true);
      expect(read).toBe(Math.floor(wall));
    }
  });

  test("follows the system's clock at once when it is set forward", () => {
    wall += HOUR_MS;
    expect(now()).toBe(START_MS + HOUR_MS);
    pass(MINUTE_MS);
    expect(now()).toBe(START_MS + HOUR_MS + MINUTE_MS);
  });

  test("goes on at nine tenths of the speed when the system's clock is set back, until it has caught up", () => {
    wall -= MINUTE_MS;
    expect(now()).toBe(START_MS);
    pass(1_000);
    expect(now()).toBe(START_MS + 900);
    pass(9 * MINUTE_MS);
    expect(now()).toBeGreaterThan(wall);
    pass(MINUTE_MS);
    expect(now()).toBe(wall);
    pass(MINUTE_MS);
    expect(now()).toBe(wall);
  });

  test("never goes back and never stops, however often the system's clock is set", () => {
    let last = now();
    for (const jump of [-HOUR_MS, HOUR_MS, -3 * HOUR_MS, 1, -1, 2 * HOUR_MS, -HOUR_MS]) {
      wall += jump;
      const atOnce = now();
      expect(atOnce).toBeGreaterThanOrEqual(last);
      pass(10);
      last = now();
      expect(last).toBeGreaterThanOrEqual(atOnce + 9);
    }
  });
});
