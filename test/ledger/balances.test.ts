import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Balances } from "../../src/core/ledger/holds/balances.ts";
import type { HoldRequest, SpendLimit } from "../../src/core/ledger/holds/hold-book.ts";

const requestOf = (id: string, amount: number, more: Partial<HoldRequest> = {}): HoldRequest => ({
  id,
  accountId: "user_a",
  overdraft: 0,
  amount,
  limits: [],
  expiresAt: 1_000,
  ...more,
});

const daily: SpendLimit = { meter: "member:org_a/user_a", of: "member", limit: 50, since: 0, query: {} };

function balancesWith(balance: number) {
  const balances = new Balances();
  balances.load({ accountId: "user_a", balance, credited: balance, version: 1 });
  return balances;
}

describe("a hold", () => {
  test("a hold is taken as long as the balance covers all holds, and rejected beyond that", () => {
    const balances = balancesWith(100);
    expect(balances.hold(requestOf("a", 60)).kind).toBe("held");
    expect(balances.hold(requestOf("b", 60))).toEqual({
      kind: "refused",
      by: "account",
      available: 40,
      required: 60,
    });
    expect(balances.hold(requestOf("c", 40)).kind).toBe("held");
    expect(balances.balanceOf("user_a")).toEqual({ balance: 100, held: 100 });
  });

  test("a settled hold is released, and only its cost is charged", () => {
    const balances = balancesWith(100);
    balances.hold(requestOf("a", 60));
    balances.settle("a", 25);
    expect(balances.balanceOf("user_a")).toEqual({ balance: 75, held: 0 });
    balances.settle("a", 25);
    expect(balances.balanceOf("user_a")).toEqual({ balance: 75, held: 0 });
  });

  test("a hold may use the overdraft of the account", () => {
    const balances = balancesWith(0);
    expect(balances.hold(requestOf("a", 1, { overdraft: null })).kind).toBe("held");
    expect(balances.hold(requestOf("b", 20, { overdraft: 10 }))).toMatchObject({
      kind: "refused",
      available: 9,
    });
    expect(balances.hold(requestOf("c", 9, { overdraft: 10 })).kind).toBe("held");
  });

  test("a hold that exceeds a spending limit reserves nothing of the balance or of any limit", () => {
    const balances = balancesWith(1_000);
    balances.loadMeter(daily, 20);
    const refused = balances.hold(requestOf("a", 40, { limits: [daily] }));
    expect(refused).toEqual({ kind: "refused", by: "member", available: 30, required: 40 });
    expect(balances.balanceOf("user_a")).toEqual({ balance: 1_000, held: 0 });
    expect(balances.hold(requestOf("b", 30, { limits: [daily] })).kind).toBe("held");
    balances.settle("b", 10);
    expect(balances.hold(requestOf("c", 20, { limits: [daily] })).kind).toBe("held");
  });

  test("a hold lapses when its time is over", () => {
    const balances = balancesWith(100);
    balances.hold(requestOf("a", 60));
    expect(balances.sweep(999)).toBe(0);
    expect(balances.sweep(1_000)).toBe(1);
    expect(balances.balanceOf("user_a")).toEqual({ balance: 100, held: 0 });
    expect(balances.holds()).toEqual([]);
  });

  test("a hold that lapsed before its generation ended reserves nothing, and the cost is still charged", () => {
    const balances = balancesWith(100);
    balances.loadMeter(daily, 0);
    balances.hold(requestOf("a", 40, { limits: [daily] }));
    balances.sweep(1_000);
    balances.settle("a", 25);
    expect(balances.balanceOf("user_a")).toEqual({ balance: 75, held: 0 });
    expect(balances.hold(requestOf("b", 30, { limits: [daily] }))).toMatchObject({
      by: "member",
      available: 25,
    });
  });

  test("a hold of a new period counts for the new period only", () => {
    const balances = balancesWith(1_000);
    balances.loadMeter(daily, 0);
    balances.hold(requestOf("a", 50, { limits: [daily] }));
    const tomorrow = { ...daily, since: 86_400_000 };
    expect(balances.isMetered(tomorrow)).toBe(false);
    balances.loadMeter(tomorrow, 0);
    expect(balances.hold(requestOf("b", 50, { limits: [tomorrow] })).kind).toBe("held");
    balances.settle("a", 50);
    balances.settle("b", 50);
    expect(balances.hold(requestOf("c", 1, { limits: [tomorrow] })).kind).toBe("refused");
  });
});

describe("a hold between a least and a most", () => {
  const flexible = (id: string) => requestOf(id, 80, { least: 10, most: 400 });

  test("the hold is the most if eight times as much is available, else an eighth, and at least the expected amount", () => {
    const amounts = [10_000, 1_600, 640, 200].map((balance) => {
      const verdict = balancesWith(balance).hold(flexible("a"));
      return verdict.kind === "held" ? verdict.amount : null;
    });
    expect(amounts).toEqual([400, 200, 80, 80]);
  });

  test("the hold is half of what is left if that is less than expected, and is rejected below the least", () => {
    const amounts = [79, 30, 15, 10, 9].map((balance) => {
      const verdict = balancesWith(balance).hold(flexible("a"));
      return verdict.kind === "held" ? verdict.amount : verdict.required;
    });
    expect(amounts).toEqual([39, 15, 10, 10, 10]);
    expect(balancesWith(9).hold(flexible("a"))).toMatchObject({
      kind: "refused",
      available: 9,
      required: 10,
    });
  });

  test("the hold is the most for an account without a bound, and the reported available amount is infinite", () => {
    const verdict = balancesWith(0).hold({ ...flexible("a"), overdraft: null });
    expect(verdict).toEqual({
      kind: "held",
      amount: 400,
      available: Number.POSITIVE_INFINITY,
      by: "account",
    });
  });

  test("the hold reports the limit that bounds it", () => {
    const balances = balancesWith(1_000);
    balances.loadMeter(daily, 20);
    expect(balances.hold({ ...flexible("a"), limits: [daily] })).toEqual({
      kind: "held",
      amount: 15,
      available: 30,
      by: "member",
    });
  });
});

describe("a hold that grows", () => {
  test("the hold grows to at most what is left, never shrinks, and is released completely", () => {
    const balances = balancesWith(100);
    balances.loadMeter(daily, 0);
    balances.hold(requestOf("a", 20, { limits: [daily] }));
    balances.hold(requestOf("b", 40));
    expect(balances.grow("a", 30)).toBe(30);
    expect(balances.grow("a", 10)).toBe(30);
    // The limit of 50 bounds it, then the balance.
    expect(balances.grow("a", 1_000)).toBe(50);
    expect(balances.grow("b", 1_000)).toBe(50);
    expect(balances.balanceOf("user_a")).toEqual({ balance: 100, held: 100 });
    balances.settle("a", 45);
    expect(balances.balanceOf("user_a")).toEqual({ balance: 55, held: 50 });
    expect(balances.grow("a", 1_000)).toBe(0);
  });

  test("a lapsed hold grows again as far as the balance allows", () => {
    const balances = balancesWith(100);
    balances.hold(requestOf("a", 60));
    balances.sweep(1_000);
    balances.hold(requestOf("b", 70));
    expect(balances.grow("a", 60)).toBe(30);
    balances.settle("a", 30);
    balances.settle("b", 70);
    expect(balances.balanceOf("user_a")).toEqual({ balance: 0, held: 0 });
  });

  test("a cost that is not a safe integer is not charged", () => {
    const balances = balancesWith(100);
    for (const cost of [1e30, Number.NaN, 0.5]) {
      balances.hold(requestOf("a", 60));
      balances.settle("a", cost);
    }
    expect(balances.balanceOf("user_a")).toEqual({ balance: 100, held: 0 });
  });
});

type Step =
  | readonly ["hold", number, number, number]
  | readonly ["grow", number, number]
  | readonly ["settle", number]
  | readonly ["credit", number];

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
    fc.tuple(fc.constant("credit" as const), fc.integer({ min: 1, max: 50 })),
  ),
  { maxLength: 200 },
);

test("no balance falls below zero and the held amount is the sum of the holds, in any order of operations", () => {
  fc.assert(
    fc.property(fc.nat(200), steps, (balance, all: readonly Step[]) => {
      const balances = balancesWith(balance);
      const open = new Map<string, number>();
      for (const [kind, number, amount = 0, more = 0] of all) {
        const id = `gen_${number}`;
        if (kind === "credit") balances.add("user_a", number);
        else if (kind === "grow") {
          const held = balances.grow(id, amount);
          if (open.has(id)) open.set(id, held);
        } else if (kind === "settle") {
          // A generation is never charged more than is held for it.
          balances.settle(id, open.get(id) ?? 0);
          open.delete(id);
        } else if (!open.has(id)) {
          const verdict = balances.hold(
            requestOf(id, amount, { least: Math.ceil(amount / 3), most: amount + more }),
          );
          if (verdict.kind === "held") open.set(id, verdict.amount);
        }
        const now = balances.balanceOf("user_a")!;
        expect(now.held).toBe([...open.values()].reduce((sum, held) => sum + held, 0));
        expect(now.balance - now.held).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});
