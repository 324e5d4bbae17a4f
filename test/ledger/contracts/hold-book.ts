import { describe, expect, test } from "bun:test";
import type { HoldBook, HoldRequest, SpendLimit } from "../../../src/core/ledger/holds/hold-book.ts";
import type { LedgerStore } from "../../../src/core/ledger/records/ledger-store.ts";
import type { UsageStore } from "../../../src/core/usage/reports/usage-store.ts";
import { grantOf, usageOf } from "../../storage/contracts/samples.ts";
import { eventually } from "../../support/eventually.ts";

/** A hold book over stores without transfers, which the tests write to as other processes do. */
export interface BookParts {
  readonly holdBook: HoldBook;
  readonly ledger: LedgerStore;
  readonly usage: UsageStore;
}

const requestOf = (id: string, amount: number, fields: Partial<HoldRequest> = {}): HoldRequest => ({
  id,
  accountId: "user_a",
  overdraft: 0,
  amount,
  limits: [],
  expiresAt: 1_000,
  ...fields,
});

const keyLimit: SpendLimit = {
  meter: "key:key_a",
  of: "key",
  limit: 50,
  since: 0,
  query: { keyId: "key_a" },
};

/** The contract of a `HoldBook`. */
export function testHoldBook(createBook: () => BookParts | Promise<BookParts>): void {
  const createFunded = async (amount: number): Promise<BookParts> => {
    const parts = await createBook();
    await parts.ledger.addTransfer(grantOf("grant_1", amount));
    return parts;
  };

  describe("a hold book", () => {
    test("holds as long as the balance in the store covers all holds, and rejects the first beyond it", async () => {
      const { holdBook } = await createFunded(100);
      expect((await holdBook.hold(requestOf("gen_1", 60))).kind).toBe("held");
      const refused = { kind: "refused", by: "account", available: 40, required: 60 } as const;
      expect(await holdBook.hold(requestOf("gen_2", 60))).toEqual(refused);
      expect((await holdBook.hold(requestOf("gen_3", 40))).kind).toBe("held");
      expect(await holdBook.balanceOf("user_a")).toEqual({ balance: 100, held: 100 });
    });

    test("never holds more than the balance for requests that arrive at once on an account that is not cached", async () => {
      const { holdBook } = await createFunded(100);
      const verdicts = await Promise.all(
        Array.from({ length: 20 }, (_, at) => holdBook.hold(requestOf(`gen_${at}`, 30))),
      );
      expect(verdicts.filter(({ kind }) => kind === "held")).toHaveLength(3);
      expect(await holdBook.balanceOf("user_a")).toEqual({ balance: 100, held: 90 });
    });

    test("counts what was spent before under a spending limit, and holds no more than the limit leaves", async () => {
      const { holdBook, usage } = await createFunded(1_000);
      await usage.saveUsage([usageOf("gen_0", { costNanodollars: 20 })]);
      const limits = [keyLimit];
      const refused = { kind: "refused", by: "key", available: 30, required: 40 } as const;
      expect(await holdBook.hold(requestOf("gen_1", 40, { limits }))).toEqual(refused);
      expect((await holdBook.hold(requestOf("gen_2", 30, { limits }))).kind).toBe("held");
      holdBook.settle("gen_2", 10);
      expect((await holdBook.hold(requestOf("gen_3", 21, { limits }))).kind).toBe("refused");
      expect((await holdBook.hold(requestOf("gen_4", 20, { limits }))).kind).toBe("held");
    });

    test("charges the cost of a settled hold once and releases the rest", async () => {
      const { holdBook } = await createFunded(100);
      await holdBook.hold(requestOf("gen_1", 60));
      holdBook.settle("gen_1", 25);
      holdBook.settle("gen_1", 25);
      expect(await holdBook.balanceOf("user_a")).toEqual({ balance: 75, held: 0 });
      expect(holdBook.holds()).toEqual([]);
    });

    test("grows a hold as far as the balance allows, and grows nothing without a hold", async () => {
      const { holdBook } = await createFunded(100);
      await holdBook.hold(requestOf("gen_1", 60));
      // A shared book borrows what is missing between two calls.
      await eventually("the hold has grown to 80", () => holdBook.grow("gen_1", 80) === 80);
      await eventually("the hold has all of the balance", () => holdBook.grow("gen_1", 500) === 100);
      expect(holdBook.grow("gen_2", 10)).toBe(0);
      expect(holdBook.holds()).toEqual([{ id: "gen_1", accountId: "user_a", amount: 100 }]);
    });

    test("applies credits that other processes wrote with the next refresh, each once", async () => {
      const { holdBook, ledger } = await createFunded(100);
      expect(holdBook.cachedBalanceOf("user_a")).toBeNull();
      await holdBook.balanceOf("user_a");
      await ledger.addTransfer(grantOf("grant_2", 50));
      await holdBook.refresh(0);
      await holdBook.refresh(0);
      expect(holdBook.cachedBalanceOf("user_a")).toBe(150);
    });

    test("releases a hold that has lapsed and still charges the cost of its generation", async () => {
      const { holdBook } = await createFunded(100);
      await holdBook.hold(requestOf("gen_1", 60, { expiresAt: 1_000 }));
      await holdBook.refresh(999);
      expect(await holdBook.balanceOf("user_a")).toEqual({ balance: 100, held: 60 });
      await holdBook.refresh(1_000);
      expect(await holdBook.balanceOf("user_a")).toEqual({ balance: 100, held: 0 });
      holdBook.settle("gen_1", 25);
      expect(await holdBook.balanceOf("user_a")).toEqual({ balance: 75, held: 0 });
    });

    test("credits a cached account and ignores one that is not cached", async () => {
      const { holdBook } = await createFunded(100);
      holdBook.credit("user_a", 5);
      expect((await holdBook.balanceOf("user_a")).balance).toBe(100);
      holdBook.credit("user_a", 5);
      expect((await holdBook.balanceOf("user_a")).balance).toBe(105);
    });
  });
}
