import { describe, expect, test } from "bun:test";
import { StoreError } from "../../src/base/failures/store-error.ts";
import type { HoldBound, HoldRequest, SpendLimit } from "../../src/core/ledger/holds/hold-book.ts";
import type { LeasedHoldBook } from "../../src/core/ledger/leases/leased-hold-book.ts";
import type { TestClock } from "../support/test-clock.ts";
import { type Bank, createLeasedBook, heldBy, passTime, requestOf } from "./leased-book.ts";

const limitOf = (of: SpendLimit["of"], limit: number): SpendLimit => ({
  meter: `${of}:a`,
  of,
  limit,
  since: 0,
  query: {},
});
const AMPLE = [limitOf("key", 9_000), limitOf("member", 9_000), limitOf("organization", 9_000)];

interface UsedUp {
  readonly name: string;
  readonly by: HoldBound;
  readonly balance: number;
  readonly fields: Pick<HoldRequest, "overdraft" | "limits">;
}

/** What can be used up, with 10 left, of a request that needs 20. */
const USED_UP: readonly UsedUp[] = [
  { name: "balance", by: "account", balance: 10, fields: { overdraft: 0, limits: AMPLE } },
  { name: "overdraft", by: "account", balance: -90, fields: { overdraft: 100, limits: AMPLE } },
  ...(["key", "member", "organization"] as const).map((of) => ({
    name: `spending limit of the ${of}`,
    by: of,
    balance: 9_000,
    fields: { overdraft: 0, limits: AMPLE.map((limit) => (limit.of === of ? limitOf(of, 10) : limit)) },
  })),
  {
    name: "balance and every spending limit",
    by: "account",
    balance: 10,
    fields: { overdraft: 0, limits: AMPLE.map(({ of }) => limitOf(of, 10)) },
  },
];

/** Returns how a hold that waits for at most so long ends; "waiting" if it has not. */
async function outcomeOf(book: LeasedHoldBook, request: HoldRequest, clock: TestClock, ms = 0) {
  let outcome = "waiting";
  Promise.try(() => book.hold(request)).then(
    ({ kind }) => {
      outcome = kind;
    },
    (error) => {
      outcome = error instanceof StoreError ? "unavailable" : String(error);
    },
  );
  await passTime(clock, ms + 10);
  return outcome;
}

describe("while the store is away, a hold beyond the lease is no lack of credit", () => {
  for (const { name, by, balance, fields } of USED_UP)
    test(`if the ${name} was used up when the store last answered`, async () => {
      const { bank, book, clock } = createLeasedBook(balance);
      const request = (id: string) => requestOf(id, 60, { least: 20, ...fields });
      expect(await book.hold(request("gen_1"))).toEqual({ kind: "refused", by, available: 10, required: 20 });
      bank.isAway = true;
      expect(await outcomeOf(book, request("gen_2"), clock)).toBe("unavailable");
      // It is asked again after a second only.
      expect(await outcomeOf(book, request("gen_3"), clock)).toBe("unavailable");
      await passTime(clock, 1_000);
      expect(await outcomeOf(book, request("gen_4"), clock)).toBe("unavailable");
      bank.isAway = false;
      await passTime(clock, 1_000);
      expect(await outcomeOf(book, request("gen_5"), clock)).toBe("refused");
      bank.answers = Promise.withResolvers();
      expect(await outcomeOf(book, request("gen_6"), clock, 1_980)).toBe("waiting");
      expect(await outcomeOf(book, request("gen_7"), clock, 2_000)).toBe("unavailable");
    });

  test("if the lease has less than the hold needs", async () => {
    for (const { name, by, balance, fields } of USED_UP) {
      const { bank, book, clock } = createLeasedBook(balance);
      const small = requestOf("gen_1", 4, fields);
      expect([name, heldBy(await book.hold(small))]).toEqual([name, 4]);
      book.settle("gen_1", 1);
      bank.isAway = true;
      expect([by, await outcomeOf(book, requestOf("gen_2", 8, fields), clock, 2_000)]).toEqual([
        by,
        "unavailable",
      ]);
    }
  });

  for (const { how, leave } of [
    { how: "fails", leave: (bank: Bank) => Object.assign(bank, { isAway: true }) },
    {
      how: "does not answer",
      leave: (bank: Bank) => Object.assign(bank, { answers: Promise.withResolvers() }),
    },
  ])
    test(`if it waits for other gateways to give back, and the store ${how}`, async () => {
      const { bank, book, clock } = createLeasedBook(100);
      await bank.createBook("gateway_b", clock).hold(requestOf("gen_1", 90));
      const verdict = Promise.try(() => book.hold(requestOf("gen_2", 60))).catch((error) => error);
      await passTime(clock, 20);
      leave(bank);
      await passTime(clock, 2_100);
      expect(await Promise.race([verdict, "it still waits"])).toBeInstanceOf(StoreError);
    });
});
