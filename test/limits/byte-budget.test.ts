import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Arrival, createByteBudget } from "../../src/core/limits/byte-budget.ts";
import { createTestClock } from "../support/test-clock.ts";

const TOTAL = 100;
const OF_ONE = 60;
const HOLDERS = ["a", "a", "b", "c"];

const createBudget = (holderBytes: number) =>
  createByteBudget({ totalBytes: TOTAL, holderBytes, clock: createTestClock(), onGarbage() {} });

describe("a byte budget", () => {
  test("is never exceeded, in total or by one holder, in any order of taking and releasing, and is full again at the end", () => {
    const step = fc.record({
      share: fc.nat(HOLDERS.length - 1),
      bytes: fc.nat(TOTAL + 1),
      givesBack: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = createBudget(OF_ONE);
        const shares = HOLDERS.map((holder) => ({ holder, share: budget.openShare(holder), taken: 0 }));
        const sum = (of: readonly { readonly taken: number }[]) =>
          of.reduce((all, { taken }) => all + taken, 0);
        for (const { share: index, bytes, givesBack } of steps) {
          const mine = shares[index]!;
          if (givesBack) {
            mine.share.release();
            Object.assign(mine, { share: budget.openShare(mine.holder), taken: 0 });
            continue;
          }
          const held = sum(shares.filter(({ holder }) => holder === mine.holder));
          const shortage = sum(shares) + bytes > TOTAL ? "all" : held + bytes > OF_ONE ? "holder" : null;
          expect(mine.share.shortageFor(bytes)).toBe(shortage);
          expect(mine.share.take(bytes)).toBe(shortage === null);
          if (shortage === null) mine.taken += bytes;
        }
        for (const { share } of shares) share.release();
        const [one, other] = [budget.openShare("a"), budget.openShare("b")];
        expect([one.take(OF_ONE), other.take(TOTAL - OF_ONE), other.take(1)]).toEqual([true, true, false]);
      }),
    );
  });

  test("asks for a collection of garbage each time that 64 MiB were released while as many are held", () => {
    const mib = 1024 * 1024;
    let asked = 0;
    const onGarbage = () => {
      asked += 1;
    };
    const totalBytes = 1024 * mib;
    const budget = createByteBudget({
      totalBytes,
      holderBytes: totalBytes,
      clock: createTestClock(),
      onGarbage,
    });
    const share = budget.openShare("a");
    share.take(512 * mib);
    const counts = [32, 31, 1, 1, 62, 1, 64].map((released) => {
      share.giveBack(released * mib);
      return asked;
    });
    expect(counts).toEqual([0, 0, 1, 1, 1, 2, 3]);
    // What is left is too little to be worth it.
    share.giveBack(257 * mib);
    expect(asked).toBe(3);
  });

  test("gives no bytes to a released share, and releases a share only once", () => {
    const budget = createBudget(TOTAL);
    const share = budget.openShare("a");
    share.take(TOTAL);
    share.release();
    share.release();
    expect(share.take(1)).toBe(false);
    const next = budget.openShare("a");
    expect([next.take(TOTAL), next.take(1)]).toEqual([true, false]);
  });

  test("is never exceeded while bodies arrive, give way and end in any order, and is empty at the end", () => {
    const step = fc.record({
      body: fc.nat(5),
      act: fc.constantFrom("announce", "begin", "take", "take", "advance", "arrive", "release"),
      bytes: fc.nat(TOTAL),
      passMs: fc.constantFrom(0, 0, 500, 1_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const clock = createTestClock();
        const budget = createByteBudget({ totalBytes: TOTAL, holderBytes: OF_ONE, clock, onGarbage() {} });
        const open = (holder: string) => ({
          holder,
          share: budget.openShare(holder),
          arrival: null as Arrival | null,
          taken: 0,
          announced: 0,
        });
        const bodies = ["a", "a", "b", "b", "c", "d"].map(open);
        for (const { body: at, act, bytes, passMs } of steps) {
          clock.advance(passMs);
          const body = bodies[at]!;
          const isFresh = body.arrival === null && body.taken === 0;
          if (act === "announce" && isFresh && body.share.announce(bytes))
            body.taken = body.announced = bytes;
          if (act === "begin" && body.arrival === null)
            body.arrival = body.share.beginArrival(() => {
              bodies[at] = open(body.holder);
            });
          if (act === "take" && body.share.take(bytes)) body.taken += bytes;
          if (act === "advance") body.arrival?.advance();
          if (act === "arrive") {
            body.arrival?.end();
            body.share.arrive();
            Object.assign(body, { arrival: null, announced: 0 });
          }
          if (act === "release") {
            body.share.release();
            bodies[at] = open(body.holder);
          }
          const sum = (of: typeof bodies) => of.reduce((all, { taken }) => all + taken, 0);
          const announced = bodies.reduce((all, one) => all + one.announced, 0);
          expect(budget.heldBytes()).toBe(sum(bodies) - announced);
          expect(sum(bodies)).toBeLessThanOrEqual(TOTAL);
          expect(announced).toBeLessThanOrEqual(TOTAL / 16);
          for (const name of "abcd")
            expect(sum(bodies.filter(({ holder }) => holder === name))).toBeLessThanOrEqual(OF_ONE);
        }
        for (const { share } of bodies) share.release();
        expect(budget.heldBytes()).toBe(0);
        const [one, other] = [budget.openShare("a"), budget.openShare("b")];
        expect([one.take(OF_ONE), other.take(TOTAL - OF_ONE), other.take(1)]).toEqual([true, true, false]);
      }),
    );
  });
});
