import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createGate } from "../../src/core/limits/gate.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { createTestClock } from "../support/test-clock.ts";

const WAIT_MS = 1_000;

describe("a gate", () => {
  test("gives the slot of a waiter that has timed out to the next one, and loses none", async () => {
    const clock = createTestClock();
    const gate = createGate(clock, 1, WAIT_MS);
    const leave = await gate.enter("a");
    const late = gate.enter("b");
    late.catch(() => {});
    clock.advance(WAIT_MS);
    await expect(late).rejects.toMatchObject({ failure: { code: "unavailable" } });
    const next = gate.enter("c");
    leave();
    const leaveNext = await next;
    leaveNext();
    const leaveLast = await gate.enter("d");
    leaveLast();
    expect(clock.pendingTimers).toBe(0);
  });

  test("never admits more than its slots, and all of them are free in the end, in any order of waits, timeouts and leaves", async () => {
    const step = fc.record({
      act: fc.constantFrom("enter", "enter", "leave", "pass"),
      holder: fc.constantFrom("a", "b", "c"),
      passMs: fc.constantFrom(1, WAIT_MS / 2, WAIT_MS),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { maxLength: 30 }),
        async (slots, steps) => {
          const clock = createTestClock();
          const gate = createGate(clock, slots, WAIT_MS);
          const inside: (() => void)[] = [];
          for (const { act, holder, passMs } of steps) {
            if (act === "enter")
              gate.enter(holder).then(
                (leave) => inside.push(leave),
                () => {},
              );
            if (act === "leave") inside.shift()?.();
            if (act === "pass") clock.advance(passMs);
            await turnEventLoop(1);
            expect(inside.length).toBeLessThanOrEqual(slots);
          }
          clock.advance(WAIT_MS);
          await turnEventLoop(1);
          while (inside.length > 0) inside.shift()?.();
          const all = await Promise.all(Array.from({ length: slots }, () => gate.enter("d")));
          expect(all).toHaveLength(slots);
        },
      ),
      { numRuns: 60 },
    );
  });
});
