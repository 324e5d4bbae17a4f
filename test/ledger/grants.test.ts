import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findGrantsLeft, type Movement } from "../../src/core/ledger/records/grants.ts";

const come = (id: string, amount: number, expiresAt: number | null = null): Movement => ({
  kind: "in",
  id,
  amount,
  expiresAt,
});
const go = (amount: number): Movement => ({ kind: "out", amount });
const expire = (grantId: string, amount: number): Movement => ({ kind: "expiry", grantId, amount });

function leftOf(opening: number, ...movements: Movement[]): Record<string, number> {
  return Object.fromEntries(findGrantsLeft(opening, movements).map(({ id, left }) => [id, left]));
}

describe("what is left of a grant", () => {
  test.each<[string, Record<string, number>, Record<string, number>]>([
    ["an unused grant is left completely", leftOf(0, come("a", 10, 1)), { a: 10 }],
    ["a grant is reduced by what was spent", leftOf(0, come("a", 10, 1), go(4)), { a: 6 }],
    ["nothing is left of a grant that is used up", leftOf(0, come("a", 10, 1), go(14)), { a: 0 }],
    [
      "a grant is left completely next to money that does not expire",
      leftOf(100, come("a", 10, 1)),
      { a: 10 },
    ],
    [
      "the grant that expires first is spent first",
      leftOf(100, come("late", 10, 9), come("early", 10, 1), go(14)),
      { early: 0, late: 6 },
    ],
    [
      "of grants with the same expiry the earlier one is spent first",
      leftOf(0, come("a", 5, 1), come("b", 5, 1), go(6)),
      { a: 0, b: 4 },
    ],
    [
      "money that was spent before the grant does not reduce it",
      leftOf(10, go(10), come("a", 10, 1)),
      { a: 10 },
    ],
    ["a grant pays an overdraft", leftOf(-4, come("a", 10, 1)), { a: 6 }],
    [
      "money that does not expire pays an overdraft, and the grant pays the rest",
      leftOf(-9, come("x", 5), come("a", 10, 1)),
      { a: 6 },
    ],
    [
      "an expired grant is gone, and later spending reduces others",
      leftOf(0, come("a", 5, 1), come("b", 5, 9), expire("a", 5), go(2)),
      { b: 3 },
    ],
  ])("%s", (_what, left, expected) => {
    expect(left).toEqual(expected);
  });
});

type Step = readonly [kind: "grant" | "lasting" | "use" | "expire", amount: number, end: number];
const steps = fc.array(
  fc.tuple(
    fc.constantFrom<Step[0]>("grant", "lasting", "use", "expire"),
    fc.integer({ min: 1, max: 100 }),
    fc.integer({ min: 1, max: 20 }),
  ),
  { maxLength: 60 },
);

/** Applies steps as the ledger does: an expiry takes exactly what is left of the grant that expires first. */
function play(opening: number, all: readonly Step[]): { movements: Movement[]; balance: number } {
  const movements: Movement[] = [];
  let balance = opening;
  for (const [index, [kind, amount, end]] of all.entries()) {
    if (kind === "use") {
      movements.push(go(amount));
      balance -= amount;
    } else if (kind === "expire") {
      const [first] = findGrantsLeft(opening, movements).filter(({ left }) => left > 0);
      if (first === undefined) continue;
      movements.push(expire(first.id, first.left));
      balance -= first.left;
    } else {
      movements.push(come(`g${index}`, amount, kind === "grant" ? end : null));
      balance += amount;
    }
  }
  return { movements, balance };
}

describe("any sequence of grants, spending and expiries", () => {
  const opening = fc.integer({ min: -200, max: 200 });

  test("each grant has between nothing and its amount left, and all together never more than the balance", () => {
    fc.assert(
      fc.property(opening, steps, (start, all) => {
        const { movements, balance } = play(start, all);
        const given = new Map(
          movements.flatMap((movement) => (movement.kind === "in" ? [[movement.id, movement.amount]] : [])),
        );
        const grants = findGrantsLeft(start, movements);
        for (const { id, left } of grants) {
          expect(left).toBeGreaterThanOrEqual(0);
          expect(left).toBeLessThanOrEqual(given.get(id) ?? -1);
        }
        const sum = grants.reduce((total, { left }) => total + left, 0);
        expect(sum).toBeLessThanOrEqual(Math.max(0, balance));
      }),
    );
  });

  test("an expiry never makes a balance negative, and a grant is spent only after all that expire earlier", () => {
    fc.assert(
      fc.property(opening, steps, (start, all) => {
        const { movements, balance } = play(start, all);
        for (const { id, left } of findGrantsLeft(start, movements)) {
          expect(balance - left).toBeGreaterThanOrEqual(Math.min(0, balance));
          const after = leftOf(start, ...movements, expire(id, left));
          expect(after[id]).toBeUndefined();
        }
      }),
    );
  });

  test("spending one by one leaves the same as spending the sum", () => {
    fc.assert(
      fc.property(opening, steps, fc.array(fc.nat(50), { maxLength: 8 }), (start, all, uses) => {
        const { movements } = play(start, all);
        const total = uses.reduce((sum, use) => sum + use, 0);
        expect(leftOf(start, ...movements, ...uses.map(go))).toEqual(leftOf(start, ...movements, go(total)));
      }),
    );
  });

  test("grants are used up in the order in which they expire", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 500 }), (all, used) => {
        const { movements } = play(0, all);
        const before = findGrantsLeft(0, movements);
        const after = findGrantsLeft(0, [...movements, go(used)]);
        const touched = after.map(({ left }, index) => left !== before[index]!.left);
        const lastTouched = touched.lastIndexOf(true);
        for (const { left } of after.slice(0, Math.max(0, lastTouched))) expect(left).toBe(0);
      }),
    );
  });
});
