import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createPurse, type HoldWish, type SpendLimit } from "../../src/core/ledger/purse.ts";

const wish = (id: string, amount: number, more: Partial<HoldWish> = {}): HoldWish => ({
  id,
  accountId: "user_a",
  overdraft: 0,
  amount,
  limits: [],
  expiresAt: 1_000,
  ...more,
});

const daily: SpendLimit = { meter: "member:org_a/user_a", of: "member", limit: 50, since: 0 };

function purseWith(balance: number) {
  const purse = createPurse();
  purse.load("user_a", balance);
  return purse;
}

describe("a hold", () => {
  test("is taken as long as the balance covers all that is held, and no longer", () => {
    const purse = purseWith(100);
    expect(purse.hold(wish("a", 60)).kind).toBe("held");
    expect(purse.hold(wish("b", 60))).toEqual({
      kind: "refused",
      by: "account",
      available: 40,
      required: 60,
    });
    expect(purse.hold(wish("c", 40)).kind).toBe("held");
    expect(purse.balanceOf("user_a")).toEqual({ balance: 100, held: 100 });
  });

  test("gives back what was not used, and costs what was", () => {
    const purse = purseWith(100);
    purse.hold(wish("a", 60));
    purse.settle("a", 25);
    expect(purse.balanceOf("user_a")).toEqual({ balance: 75, held: 0 });
    purse.settle("a", 25);
    expect(purse.balanceOf("user_a")).toEqual({ balance: 75, held: 0 });
  });

  test("may go as far below zero as the account may", () => {
    const purse = purseWith(0);
    expect(purse.hold(wish("a", 1, { overdraft: null })).kind).toBe("held");
    expect(purse.hold(wish("b", 20, { overdraft: 10 }))).toMatchObject({ kind: "refused", available: 9 });
    expect(purse.hold(wish("c", 9, { overdraft: 10 })).kind).toBe("held");
  });

  test("is refused by a limit, and then nothing is held anywhere", () => {
    const purse = purseWith(1_000);
    purse.loadMeter(daily, 20);
    const refused = purse.hold(wish("a", 40, { limits: [daily] }));
    expect(refused).toEqual({ kind: "refused", by: "member", available: 30, required: 40 });
    expect(purse.balanceOf("user_a")).toEqual({ balance: 1_000, held: 0 });
    expect(purse.hold(wish("b", 30, { limits: [daily] })).kind).toBe("held");
    purse.settle("b", 10);
    expect(purse.hold(wish("c", 20, { limits: [daily] })).kind).toBe("held");
  });

  test("ends by itself when its time is up", () => {
    const purse = purseWith(100);
    purse.hold(wish("a", 60));
    expect(purse.sweep(999)).toBe(0);
    expect(purse.sweep(1_000)).toBe(1);
    expect(purse.balanceOf("user_a")).toEqual({ balance: 100, held: 0 });
    expect(purse.holds()).toEqual([]);
  });

  test("whose time was up before its generation ended leaves nothing held, and the cost is not lost", () => {
    const purse = purseWith(100);
    purse.loadMeter(daily, 0);
    purse.hold(wish("a", 40, { limits: [daily] }));
    purse.sweep(1_000);
    purse.settle("a", 25);
    expect(purse.balanceOf("user_a")).toEqual({ balance: 75, held: 0 });
    expect(purse.hold(wish("b", 30, { limits: [daily] }))).toMatchObject({ by: "member", available: 25 });
  });

  test("of another period starts the meter anew, and what was held in the old one stays out of the new", () => {
    const purse = purseWith(1_000);
    purse.loadMeter(daily, 0);
    purse.hold(wish("a", 50, { limits: [daily] }));
    const tomorrow = { ...daily, since: 86_400_000 };
    expect(purse.isMetered(tomorrow)).toBe(false);
    purse.loadMeter(tomorrow, 0);
    expect(purse.hold(wish("b", 50, { limits: [tomorrow] })).kind).toBe("held");
    purse.settle("a", 50);
    purse.settle("b", 50);
    expect(purse.hold(wish("c", 1, { limits: [tomorrow] })).kind).toBe("refused");
  });
});

type Step = readonly ["hold", number, number] | readonly ["settle", number] | readonly ["deposit", number];

const steps = fc.array(
  fc.oneof(
    fc.tuple(fc.constant("hold" as const), fc.nat(30), fc.integer({ min: 1, max: 60 })),
    fc.tuple(fc.constant("settle" as const), fc.nat(30)),
    fc.tuple(fc.constant("deposit" as const), fc.integer({ min: 1, max: 50 })),
  ),
  { maxLength: 200 },
);

test("whatever comes in whatever order, no balance falls below zero, and what is held is the sum of the holds", () => {
  fc.assert(
    fc.property(fc.nat(200), steps, (balance, all: readonly Step[]) => {
      const purse = purseWith(balance);
      const open = new Map<string, number>();
      for (const [kind, number, amount = 0] of all) {
        const id = `gen_${number}`;
        if (kind === "deposit") purse.deposit("user_a", number);
        else if (kind === "settle") {
          // A generation never costs more than was held for it.
          purse.settle(id, Math.floor((open.get(id) ?? 0) / 2));
          open.delete(id);
        } else if (!open.has(id) && purse.hold(wish(id, amount)).kind === "held") open.set(id, amount);
        const now = purse.balanceOf("user_a")!;
        expect(now.held).toBe([...open.values()].reduce((sum, held) => sum + held, 0));
        expect(now.balance - now.held).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});
