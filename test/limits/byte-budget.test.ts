import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createByteBudget } from "../../src/core/limits/byte-budget.ts";

const TOTAL = 100;
const SHARES = 4;

describe("a budget of bytes", () => {
  test("is never overdrawn, whoever takes and gives back in whatever order, and is whole again at the end", () => {
    const step = fc.record({ share: fc.nat(SHARES - 1), bytes: fc.nat(TOTAL + 1), givesBack: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = createByteBudget(TOTAL);
        const shares = Array.from({ length: SHARES }, () => ({ share: budget.openShare(), taken: 0 }));
        for (const { share: index, bytes, givesBack } of steps) {
          const held = shares[index]!;
          const left = TOTAL - shares.reduce((sum, { taken }) => sum + taken, 0);
          if (givesBack) {
            held.share.giveBack();
            Object.assign(held, { share: budget.openShare(), taken: 0 });
          } else {
            expect(budget.hasRoomFor(bytes)).toBe(bytes <= left);
            expect(held.share.take(bytes)).toBe(bytes <= left);
            if (bytes <= left) held.taken += bytes;
          }
        }
        for (const { share } of shares) share.giveBack();
        expect([budget.hasRoomFor(TOTAL), budget.hasRoomFor(TOTAL + 1)]).toEqual([true, false]);
      }),
    );
  });

  test("takes nothing for a share that was given back, and gives nothing back twice", () => {
    const budget = createByteBudget(TOTAL);
    const share = budget.openShare();
    share.take(TOTAL);
    share.giveBack();
    share.giveBack();
    expect(share.take(1)).toBe(false);
    expect([budget.hasRoomFor(TOTAL), budget.hasRoomFor(TOTAL + 1)]).toEqual([true, false]);
  });
});
