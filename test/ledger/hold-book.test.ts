import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createHoldBook, type HoldRequest, type SpendLimit } from "../../src/core/ledger/hold-book.ts";

const wish = (id: string, amount: number, more: Partial<HoldRequest> = {}): HoldRequest => ({
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
  const holdBook = createHoldBook();
  holdBook.load("user_a", balance);
  return holdBook;
}

describe("a hold", () => {
  test("is taken as long as the balance covers all that is held, and no longer", () => {
    const holdBook = purseWith(100);
    expect(holdBook.hold(wish("a", 60)).kind).toBe("held");
    expect(holdBook.hold(wish("b", 60))).toEqual({
      kind: "refused",
      by: "account",
      available: 40,
      required: 60,
    });
    expect(holdBook.hold(wish("c", 40)).kind).toBe("held");
    expect(holdBook.balanceOf("user_a")).toEqual({ balance: 100, held: 100 });
  });

  test("gives back what was not used, and costs what was", () => {
    const holdBook = purseWith(100);
    holdBook.hold(wish("a", 60));
    holdBook.settle("a", 25);
    expect(holdBook.balanceOf("user_a")).toEqual({ balance: 75, held: 0 });
    holdBook.settle("a", 25);
    expect(holdBook.balanceOf("user_a")).toEqual({ balance: 75, held: 0 });
  });

  test("may go as far below zero as the account may", () => {
    const holdBook = purseWith(0);
    expect(holdBook.hold(wish("a", 1, { overdraft: null })).kind).toBe("held");
    expect(holdBook.hold(wish("b", 20, { overdraft: 10 }))).toMatchObject({ kind: "refused", available: 9 });
    expect(holdBook.hold(wish("c", 9, { overdraft: 10 })).kind).toBe("held");
  });

  test("is refused by a limit, and then nothing is held anywhere", () => {
    const holdBook = purseWith(1_000);
    holdBook.loadMeter(daily, 20);
    const refused = holdBook.hold(wish("a", 40, { limits: [daily] }));
    expect(refused).toEqual({ kind: "refused", by: "member", available: 30, required: 40 });
    expect(holdBook.balanceOf("user_a")).toEqual({ balance: 1_000, held: 0 });
    expect(holdBook.hold(wish("b", 30, { limits: [daily] })).kind).toBe("held");
    holdBook.settle("b", 10);
    expect(holdBook.hold(wish("c", 20, { limits: [daily] })).kind).toBe("held");
  });

  test("ends by itself when its time is up", () => {
    const holdBook = purseWith(100);
    holdBook.hold(wish("a", 60));
    expect(holdBook.sweep(999)).toBe(0);
    expect(holdBook.sweep(1_000)).toBe(1);
    expect(holdBook.balanceOf("user_a")).toEqual({ balance: 100, held: 0 });
    expect(holdBook.holds()).toEqual([]);
  });

  test("whose time was up before its generation ended leaves nothing held, and the cost is not lost", () => {
    const holdBook = purseWith(100);
    holdBook.loadMeter(daily, 0);
    holdBook.hold(wish("a", 40, { limits: [daily] }));
    holdBook.sweep(1_000);
    holdBook.settle("a", 25);
    expect(holdBook.balanceOf("user_a")).toEqual({ balance: 75, held: 0 });
    expect(holdBook.hold(wish("b", 30, { limits: [daily] }))).toMatchObject({ by: "member", available: 25 });
  });

  test("of another period starts the meter anew, and what was held in the old one stays out of the new", () => {
    const holdBook = purseWith(1_000);
    holdBook.loadMeter(daily, 0);
    holdBook.hold(wish("a", 50, { limits: [daily] }));
    const tomorrow = { ...daily, since: 86_400_000 };
    expect(holdBook.isMetered(tomorrow)).toBe(false);
    holdBook.loadMeter(tomorrow, 0);
    expect(holdBook.hold(wish("b", 50, { limits: [tomorrow] })).kind).toBe("held");
    holdBook.settle("a", 50);
    holdBook.settle("b", 50);
    expect(holdBook.hold(wish("c", 1, { limits: [tomorrow] })).kind).toBe("refused");
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
    const holdBook = purseWith(1_000);
    holdBook.loadMeter(daily, 20);
    expect(holdBook.hold({ ...flexible("a"), limits: [daily] })).toEqual({
      kind: "held",
      amount: 15,
      available: 30,
      by: "member",
    });
  });
});

describe("a hold that grows", () => {
  test("takes what is left and no more, never shrinks, and gives all of it back", () => {
    const holdBook = purseWith(100);
    holdBook.loadMeter(daily, 0);
    holdBook.hold(wish("a", 20, { limits: [daily] }));
    holdBook.hold(wish("b", 40));
    expect(holdBook.grow("a", 30)).toBe(30);
    expect(holdBook.grow("a", 10)).toBe(30);
    // The limit of 50 bounds it, then the balance.
    expect(holdBook.grow("a", 1_000)).toBe(50);
    expect(holdBook.grow("b", 1_000)).toBe(50);
    expect(holdBook.balanceOf("user_a")).toEqual({ balance: 100, held: 100 });
    holdBook.settle("a", 45);
    expect(holdBook.balanceOf("user_a")).toEqual({ balance: 55, held: 50 });
    expect(holdBook.grow("a", 1_000)).toBe(0);
  });

  test("is taken anew after its time was up, as far as what is left allows", () => {
    const holdBook = purseWith(100);
    holdBook.hold(wish("a", 60));
    holdBook.sweep(1_000);
    holdBook.hold(wish("b", 70));
    expect(holdBook.grow("a", 60)).toBe(30);
    holdBook.settle("a", 30);
    holdBook.settle("b", 70);
    expect(holdBook.balanceOf("user_a")).toEqual({ balance: 0, held: 0 });
  });

  test("is not charged with what is no amount", () => {
    const holdBook = purseWith(100);
    for (const cost of [1e30, Number.NaN, 0.5]) {
      holdBook.hold(wish("a", 60));
      holdBook.settle("a", cost);
    }
    expect(holdBook.balanceOf("user_a")).toEqual({ balance: 100, held: 0 });
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
      const holdBook = purseWith(balance);
      const open = new Map<string, number>();
      for (const [kind, number, amount = 0, more = 0] of all) {
        const id = `gen_${number}`;
        if (kind === "deposit") holdBook.deposit("user_a", number);
        else if (kind === "grow") {
          const held = holdBook.grow(id, amount);
          if (open.has(id)) open.set(id, held);
        } else if (kind === "settle") {
          // A generation is never charged more than is held for it.
          holdBook.settle(id, open.get(id) ?? 0);
          open.delete(id);
        } else if (!open.has(id)) {
          const verdict = holdBook.hold(
            wish(id, amount, { least: Math.ceil(amount / 3), most: amount + more }),
          );
          if (verdict.kind === "held") open.set(id, verdict.amount);
        }
        const now = holdBook.balanceOf("user_a")!;
        expect(now.held).toBe([...open.values()].reduce((sum, held) => sum + held, 0));
        expect(now.balance - now.held).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});
