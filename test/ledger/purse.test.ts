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

describe("a hold between a least and a most", () => {
  const flexible = (id: string) => wish(id, 80, { least: 10, most: 400 });

  test("takes the most where eight times as much is there, an eighth of less, and what is expected of little", () => {
    const amounts = [10_000, 1_600, 640, 200].map((balance) => {
      const verdict = purseWith(balance).hold(flexible("a"));
      return verdict.kind === "held" ? verdict.amount : null;
    });
    expect(amounts).toEqual([400, 200, 80, 80]);
  });

  test("takes half of what is left where that is less than expected, down to the least, and then is refused", () => {
    const amounts = [79, 30, 15, 10, 9].map((balance) => {
      const verdict = purseWith(balance).hold(flexible("a"));
      return verdict.kind === "held" ? verdict.amount : verdict.required;
    });
    expect(amounts).toEqual([39, 15, 10, 10, 10]);
    expect(purseWith(9).hold(flexible("a"))).toMatchObject({ kind: "refused", available: 9, required: 10 });
  });

  test("takes the most of an account without a bound, and says that there is none", () => {
    const verdict = purseWith(0).hold({ ...flexible("a"), overdraft: null });
    expect(verdict).toEqual({
      kind: "held",
      amount: 400,
      available: Number.POSITIVE_INFINITY,
      by: "account",
    });
  });

  test("says which limit bounds it", () => {
    const purse = purseWith(1_000);
    purse.loadMeter(daily, 20);
    expect(purse.hold({ ...flexible("a"), limits: [daily] })).toEqual({
      kind: "held",
      amount: 15,
      available: 30,
      by: "member",
    });
  });
});

describe("a hold that grows", () => {
  test("takes what is left and no more, never shrinks, and gives all of it back", () => {
    const purse = purseWith(100);
    purse.loadMeter(daily, 0);
    purse.hold(wish("a", 20, { limits: [daily] }));
    purse.hold(wish("b", 40));
    expect(purse.grow("a", 30)).toBe(30);
    expect(purse.grow("a", 10)).toBe(30);
    // The limit of 50 bounds it, then the balance.
    expect(purse.grow("a", 1_000)).toBe(50);
    expect(purse.grow("b", 1_000)).toBe(50);
    expect(purse.balanceOf("user_a")).toEqual({ balance: 100, held: 100 });
    purse.settle("a", 45);
    expect(purse.balanceOf("user_a")).toEqual({ balance: 55, held: 50 });
    expect(purse.grow("a", 1_000)).toBe(0);
  });

  test("is taken anew after its time was up, as far as what is left allows", () => {
    const purse = purseWith(100);
    purse.hold(wish("a", 60));
    purse.sweep(1_000);
    purse.hold(wish("b", 70));
    expect(purse.grow("a", 60)).toBe(30);
    purse.settle("a", 30);
    purse.settle("b", 70);
    expect(purse.balanceOf("user_a")).toEqual({ balance: 0, held: 0 });
  });

  test("is not charged with what is no amount", () => {
    const purse = purseWith(100);
    for (const cost of [1e30, Number.NaN, 0.5]) {
      purse.hold(wish("a", 60));
      purse.settle("a", cost);
    }
    expect(purse.balanceOf("user_a")).toEqual({ balance: 100, held: 0 });
  });
});

type Step =
  | readonly ["hold", number, number, number]
  | readonly ["grow", number, number]
  | readonly ["settle", number]
  | readonly ["deposit", number];

const steps = fc.array(
  fc.oneof(
    fc.tuple(
      fc.constant("hold" as const),
      fc.nat(30),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 0, max: 90 }),
    ),
    fc.tuple(fc.constant("grow" as const), fc.nat(30), fc.integer({ min: 1, max: 200 })),
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
      for (const [kind, number, amount = 0, more = 0] of all) {
        const id = `gen_${number}`;
        if (kind === "deposit") purse.deposit("user_a", number);
        else if (kind === "grow") {
          const held = purse.grow(id, amount);
          if (open.has(id)) open.set(id, held);
        } else if (kind === "settle") {
          // A generation is never charged more than is held for it.
          purse.settle(id, open.get(id) ?? 0);
          open.delete(id);
        } else if (!open.has(id)) {
          const verdict = purse.hold(wish(id, amount, { least: Math.ceil(amount / 3), most: amount + more }));
          if (verdict.kind === "held") open.set(id, verdict.amount);
        }
        const now = purse.balanceOf("user_a")!;
        expect(now.held).toBe([...open.values()].reduce((sum, held) => sum + held, 0));
        expect(now.balance - now.held).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});
