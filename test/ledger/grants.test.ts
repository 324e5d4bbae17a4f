import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findGrantsLeft, type Movement } from "../../src/core/ledger/grants.ts";

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

describe("what is left of grants", () => {
  test.each<[string, Record<string, number>, Record<string, number>]>([
    ["all, unused", leftOf(0, come("a", 10, 1)), { a: 10 }],
    ["less, by what was used", leftOf(0, come("a", 10, 1), go(4)), { a: 6 }],
    ["nothing, used up", leftOf(0, come("a", 10, 1), go(14)), { a: 0 }],
    ["all, where money stays beside it and comes last", leftOf(100, come("a", 10, 1)), { a: 10 }],
    [
      "what ends first goes first",
      leftOf(100, come("late", 10, 9), come("early", 10, 1), go(14)),
      { early: 0, late: 6 },
    ],
    [
      "of the same end the earlier one goes first",
      leftOf(0, come("a", 5, 1), come("b", 5, 1), go(6)),
      { a: 0, b: 4 },
    ],
    ["what was used before it came does not touch it", leftOf(10, go(10), come("a", 10, 1)), { a: 10 }],
    ["it pays what was overdrawn", leftOf(-4, come("a", 10, 1)), { a: 6 }],
    [
      "money that stays pays a debt, and the grant pays the rest",
      leftOf(-9, come("x", 5), come("a", 10, 1)),
      { a: 6 },
    ],
    [
      "one that has ended is gone, and what follows is spent from others",
      leftOf(0, come("a", 5, 1), come("b", 5, 9), expire("a", 5), go(2)),
      { b: 3 },
    ],
  ])("is %s", (_what, left, expected) => {
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

/** Plays steps as the ledger does: an expiry takes exactly what is left of the grant that ends first. */
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

describe("whatever happens in whatever order", () => {
  const opening = fc.integer({ min: -200, max: 200 });

  test("no grant has less than nothing or more than was given, and together they are never more than the balance", () => {
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

  test("an expiry never brings a balance below zero, and nothing is left of a grant while a later-ending one is touched", () => {
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

  test("spending one by one or as one sum is the same", () => {
    fc.assert(
      fc.property(opening, steps, fc.array(fc.nat(50), { maxLength: 8 }), (start, all, uses) => {
        const { movements } = play(start, all);
        const total = uses.reduce((sum, use) => sum + use, 0);
        expect(leftOf(start, ...movements, ...uses.map(go))).toEqual(leftOf(start, ...movements, go(total)));
      }),
    );
  });

  test("grants are used up in the order in which they end", () => {
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
