import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createByteBudget } from "../../src/core/limits/byte-budget.ts";

const TOTAL = 100;
const OF_ONE = 60;
const HOLDERS = ["a", "a", "b", "c"];

describe("a byte budget", () => {
  test("is never exceeded, in total or by one holder, in any order of taking and releasing, and is full again at the end", () => {
    const step = fc.record({
      share: fc.nat(HOLDERS.length - 1),
      bytes: fc.nat(TOTAL + 1),
      givesBack: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = createByteBudget(TOTAL, OF_ONE);
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

  test("gives no bytes to a released share, and releases a share only once", () => {
    const budget = createByteBudget(TOTAL, TOTAL);
    const share = budget.openShare("a");
    share.take(TOTAL);
    share.release();
    share.release();
    expect(share.take(1)).toBe(false);
    const next = budget.openShare("a");
    expect([next.take(TOTAL), next.take(1)]).toEqual([true, false]);
  });
});
