import { beforeEach, describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../src/base/time/time.ts";
import { Cancellation } from "../../src/core/generation/call/cancellation.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";

const TOTAL_MS = 900_000;
const SILENCE_MS = 60_000;

describe("the timers of a generation whose system's clock is set forward", () => {
  let clock: TestClock;
  /** By how much the system's clock was set. Timers do not notice it. */
  let set: number;
  let cancellation: Cancellation;

  beforeEach(() => {
    clock = createTestClock();
    set = 0;
    cancellation = new Cancellation({ ...clock, now: () => clock.now() + set }, TOTAL_MS);
  });

  test("end it within half a minute if its total time is over by that clock", () => {
    cancellation.endPhase();
    clock.advance(10_000);
    set = HOUR_MS;
    clock.advance(30_000);
    expect(cancellation.reason).toBe("total");
  });

  test("let it go on, up to its total time by that clock, if that is not over", () => {
    cancellation.endPhase();
    set = TOTAL_MS - 100_000;
    clock.advance(99_999);
    expect(cancellation.reason).toBeNull();
    clock.advance(1);
    expect(cancellation.reason).toBe("total");
  });

  test("do not end a silence early that a token has ended", () => {
    cancellation.startPhase("silence", SILENCE_MS);
    clock.advance(20_000);
    set = TOTAL_MS / 2;
    cancellation.touch();
    clock.advance(SILENCE_MS - 1);
    expect(cancellation.reason).toBeNull();
    clock.advance(1);
    expect(cancellation.reason).toBe("silence");
    expect(clock.pendingTimers).toBe(0);
  });
});
