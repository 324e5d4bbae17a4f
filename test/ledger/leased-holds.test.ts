import { describe, expect, test } from "bun:test";
import { StoreError } from "../../src/base/failures/store-error.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { createTestClock } from "../support/test-clock.ts";
import { Bank, createLeasedBook as create, heldBy, passTime as pass, requestOf } from "./leased-book.ts";

const MINUTE_MS = 60_000;

describe("the hold book over leases", () => {
  test("asks the store once for several holds of an account that wait at the same time", async () => {
    const { bank, book } = create(1_000);
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, (_, at) => book.hold(requestOf(`gen_${at}`, 20))),
    );
    expect(verdicts.map(heldBy)).toEqual(Array(10).fill(20));
    // The first goes alone, the others wait for its answer and go together.
    expect(bank.orders).toHaveLength(2);
    expect(bank.leaseOf("gateway_a")).toBe(200);
  });

  test("takes holds from its lease without the store, also again after they were settled", async () => {
    const { bank, book } = create(1_000);
    await book.hold(requestOf("gen_1", 100));
    book.settle("gen_1", 30);
    expect(heldBy(await book.hold(requestOf("gen_2", 70)))).toBe(70);
    expect(bank.orders).toHaveLength(1);
  });

  test("names the leases that a hold is charged to, and none for an account without a bound", async () => {
    const { bank, book } = create(1_000);
    const limit = { meter: "key:key_a", of: "key", limit: 500, since: 0, query: { keyId: "key_a" } } as const;
    expect(await book.hold(requestOf("gen_1", 100, { limits: [limit] }))).toMatchObject({
      leasedFrom: ["balance", "key:key_a@0"],
    });
    expect(await book.hold(requestOf("gen_2", 100, { overdraft: null }))).toEqual({
      kind: "held",
      amount: 100,
      available: Number.POSITIVE_INFINITY,
      by: "account",
    });
    expect(bank.orders).toHaveLength(1);
  });

  test("tells as available also what the store can still lend", async () => {
    const { book } = create(1_000);
    const verdict = await book.hold(requestOf("gen_1", 100, { most: 100 }));
    expect(verdict).toMatchObject({ available: 1_000 });
  });

  /** Serves requests that cost 1 of 20 that are held, six a second. Returns how many were held, and the most that was leased. */
  async function serve(
    { bank, book, clock }: ReturnType<typeof create>,
    requests: number,
  ): Promise<{ readonly held: number; readonly leased: number }> {
    let [held, leased] = [0, 0];
    for (let at = 0; at < requests; at++) {
      const id = `gen_${clock.now()}`;
      const verdict = await Promise.resolve(book.hold(requestOf(id, 20, { least: 10, most: 100 }))).catch(
        () => null,
      );
      if (verdict?.kind === "held") held += 1;
      book.settle(id, 1);
      if (!bank.isAway) bank.save("gateway_a", 1);
      leased = Math.max(leased, bank.leaseOf("gateway_a"));
      clock.advance(1_000 / 6);
      await turnEventLoop(1);
    }
    return { held, leased };
  }
  const HOUR_MS = 60 * MINUTE_MS;

  test("leases of an ample balance what the account spends within the horizon, so that all of it is served while the store is away", async () => {
    const created = create(500_000, { horizonMs: HOUR_MS });
    await serve(created, 120);
    // A refill at each doubling, or when half is used.
    expect(created.bank.orders.length).toBeLessThan(16);
    created.bank.isAway = true;
    const requests = 6 * 60 * 60;
    expect(await serve(created, requests)).toMatchObject({ held: requests });
  });

  test("refills at half: at a steady rate few orders are sent, and no gateway leases more than an eighth of what is left", async () => {
    const created = create(100_000, { horizonMs: HOUR_MS });
    await serve(created, 600);
    const before = created.bank.orders.length;
    const { held, leased } = await serve(created, 6_000);
    expect(held).toBe(6_000);
    expect(created.bank.orders.length - before).toBeLessThan(8);
    expect(leased).toBeLessThan(100_000 / 8);
  });

  test("gives back what is idle once nothing is spent, also what was leased for the horizon", async () => {
    const created = create(500_000, { horizonMs: HOUR_MS });
    await serve(created, 120);
    expect(created.bank.leaseOf("gateway_a")).toBeGreaterThan(10_000);
    for (let minute = 0; minute < 4; minute++) {
      created.clock.advance(MINUTE_MS);
      await created.book.refresh(created.clock.now());
      await turnEventLoop(1);
    }
    expect(created.bank.leaseOf("gateway_a")).toBe(0);
  });

  test("keeps what a steady rate needs, instead of giving it back and borrowing it each minute", async () => {
    const created = create(500_000, { horizonMs: HOUR_MS });
    await serve(created, 360);
    const before = created.bank.orders.length;
    for (let minute = 0; minute < 5; minute++) {
      await serve(created, 360);
      await created.book.refresh(created.clock.now());
      await turnEventLoop(1);
      expect(created.bank.leaseOf("gateway_a")).toBeGreaterThan(10_000);
    }
    expect(created.bank.orders.length - before).toBeLessThan(3);
  });

  test("borrows in the background what a stream will need next, so that its hold grows at once", async () => {
    const { book } = create(10_000);
    await book.hold(requestOf("gen_1", 100, { least: 10, most: 800 }));
    await turnEventLoop(1);
    expect(book.grow("gen_1", 800)).toBe(800);
    await book.hold(requestOf("gen_2", 1_500, { most: 10_000 }));
    await turnEventLoop(1);
    expect(book.grow("gen_2", 3_000)).toBe(3_000);
  });

  test("waits for the store when a hold must grow beyond the lease, and for 300 ms at most", async () => {
    const { bank, book, clock } = create(10_000);
    await book.hold(requestOf("gen_1", 100));
    expect(await book.growSoon("gen_1", 5_000)).toBe(5_000);
    expect(await book.growSoon("gen_1", 20_000)).toBe(10_000);
    bank.isAway = true;
    expect(await book.growSoon("gen_1", 20_000)).toBe(10_000);
    bank.isAway = false;
    clock.advance(1_000);
    bank.answers = Promise.withResolvers<void>();
    bank.balance += 10_000;
    const grown = book.growSoon("gen_1", 20_000);
    await turnEventLoop(1);
    clock.advance(300);
    await pass(clock, 2_000);
    expect(await grown).toBe(10_000);
    bank.answers.resolve();
    await turnEventLoop(1);
    expect(book.grow("gen_1", 20_000)).toBeGreaterThan(10_000);
  });

  test("does not wait for the store when its lease covers all that a hold grows by", async () => {
    const { bank, book } = create(10_000);
    await book.hold(requestOf("gen_0", 100));
    await book.hold(requestOf("gen_1", 100));
    book.settle("gen_0", 0);
    bank.answers = Promise.withResolvers<void>();
    const waiting = book.hold(requestOf("gen_2", 5_000));
    expect(await book.growSoon("gen_1", 200)).toBe(200);
    bank.answers.resolve();
    expect(heldBy(await waiting)).toBe(5_000);
  });

  test("grows by the answers to four orders at most, however much is left according to the store", async () => {
    const { book } = create(0, {
      leases: {
        borrow: async ({ leases }) => ({
          isLent: true,
          leases: leases.map(({ amount }) => ({ lent: Math.min(amount, 100), left: 1_000, others: 0 })),
        }),
        giveBack: async () => {},
        listWanted: async () => [],
        listLeases: async () => ({ leases: [], ticket: 0 }),
      },
    });
    expect(heldBy(await book.hold(requestOf("gen_1", 100)))).toBe(100);
    expect(await book.growSoon("gen_1", 1_000)).toBe(100 + 4 * 100);
  });

  test("does not ask the store again for money that it did not have a moment ago, and asks again after a second", async () => {
    const { bank, book, clock } = create(100);
    await book.hold(requestOf("gen_1", 100));
    bank.balance += 100;
    clock.advance(999);
    expect(await book.growSoon("gen_1", 200)).toBe(100);
    expect(bank.orders).toHaveLength(1);
    clock.advance(1);
    expect(await book.growSoon("gen_1", 200)).toBe(200);
  });

  test("orders again for a hold that the balance just covers after others of the same order have taken theirs", async () => {
    const { bank, book } = create(51);
    const verdicts = await Promise.all([
      book.hold(requestOf("gen_1", 1)),
      // Of the 50 that are left, half is lent to these two, which would rather have 65.
      book.hold(requestOf("gen_2", 15)),
      book.hold(requestOf("gen_3", 50, { least: 35 })),
    ]);
    expect(verdicts.map(heldBy)).toEqual([1, 15, 35]);
    expect(bank.orders).toHaveLength(3);
  });

  test("gives back what it has not needed for a minute", async () => {
    const { bank, book, clock } = create(1_000);
    await book.hold(requestOf("gen_1", 100));
    await book.hold(requestOf("gen_2", 50));
    book.settle("gen_2", 0);
    expect(bank.leaseOf("gateway_a")).toBe(150);
    for (let minute = 0; minute < 3; minute++) {
      clock.advance(MINUTE_MS);
      await book.refresh(clock.now());
      await turnEventLoop(1);
    }
    expect(bank.leaseOf("gateway_a")).toBe(100);
  });

  test("waits for another gateway to give back what it does not need", async () => {
    const { bank, book, clock } = create(100);
    const other = bank.createBook("gateway_b", clock);
    await other.hold(requestOf("gen_1", 90));
    other.settle("gen_1", 0);
    const verdict = book.hold(requestOf("gen_2", 60));
    await turnEventLoop(1);
    await other.refresh(clock.now());
    await pass(clock, 50);
    expect(heldBy(await verdict)).toBe(60);
    expect(bank.leaseOf("gateway_b")).toBe(0);
  });

  test("rejects after 300 ms if the others give nothing back, and at once if they could not help", async () => {
    const { bank, book, clock } = create(100);
    const other = bank.createBook("gateway_b", clock);
    await other.hold(requestOf("gen_1", 90));
    let isDecided = false;
    const verdict = Promise.resolve(book.hold(requestOf("gen_2", 60))).finally(() => {
      isDecided = true;
    });
    await pass(clock, 290);
    expect(isDecided).toBe(false);
    await pass(clock, 120);
    expect(await verdict).toEqual({ kind: "refused", by: "account", available: 10, required: 60 });
    expect(await book.hold(requestOf("gen_3", 101))).toMatchObject({ kind: "refused" });
  });

  test("serves what the lease covers while the store is away, and rejects the rest with a StoreError", async () => {
    const { bank, book, clock } = create(1_000);
    await book.hold(requestOf("gen_1", 100));
    book.settle("gen_1", 10);
    bank.isAway = true;
    expect(heldBy(await book.hold(requestOf("gen_2", 80, { least: 20, most: 500 })))).toBe(80);
    expect(await Promise.resolve(book.hold(requestOf("gen_3", 50))).catch((error) => error)).toBeInstanceOf(
      StoreError,
    );
    bank.isAway = false;
    clock.advance(1_000);
    expect(heldBy(await book.hold(requestOf("gen_4", 50)))).toBe(50);
  });

  test("waits two seconds for a store that does not answer, and uses the answer that comes later", async () => {
    const clock = createTestClock();
    const bank = new Bank(100);
    const answers = Promise.withResolvers<void>();
    const book = bank.createBook("gateway_a", clock);
    const slow = bank.createBook("gateway_b", clock, {
      leases: {
        borrow: async (order) => {
          await answers.promise;
          return {
            isLent: true,
            leases: order.leases.map(({ amount }) => ({ lent: amount, left: 0, others: 0 })),
          };
        },
        giveBack: async () => {},
        listWanted: async () => [],
        listLeases: async () => ({ leases: [], ticket: 0 }),
      },
    });
    const verdict = Promise.resolve(slow.hold(requestOf("gen_1", 60))).catch((error) => error);
    clock.advance(2_000);
    expect(await verdict).toBeInstanceOf(StoreError);
    answers.resolve();
    await turnEventLoop(1);
    expect(heldBy(await slow.hold(requestOf("gen_2", 60)))).toBe(60);
    expect(heldBy(await book.hold(requestOf("gen_3", 60)))).toBe(60);
  });

  test("sends an order whose answer was lost again, and leases its money once", async () => {
    const { bank, book, clock } = create(1_000);
    bank.losesAnswers = true;
    expect(await Promise.resolve(book.hold(requestOf("gen_1", 100))).catch((error) => error)).toBeInstanceOf(
      StoreError,
    );
    bank.losesAnswers = false;
    clock.advance(1_000);
    expect(heldBy(await book.hold(requestOf("gen_2", 100)))).toBe(100);
    expect(bank.orders.map(({ ticket }) => ticket).slice(0, 2)).toEqual([1, 1]);
    expect(bank.leaseOf("gateway_a")).toBe(100);
  });

  test("goes on with the leases of an earlier process of the same gateway", async () => {
    const { bank, book, clock } = create(100);
    await book.hold(requestOf("gen_1", 80));
    bank.save("gateway_a", 30);
    const restarted = bank.createBook("gateway_a", clock);
    await restarted.start();
    bank.isAway = true;
    expect(heldBy(await restarted.hold(requestOf("gen_2", 50)))).toBe(50);
    expect(
      await Promise.resolve(restarted.hold(requestOf("gen_3", 1))).catch((error) => error),
    ).toBeInstanceOf(StoreError);
  });

  test("keeps the leases of accounts that it may forget until it has given them back", async () => {
    const { bank, book, clock } = create(1_000, { maxCached: 1 });
    await book.hold(requestOf("gen_1", 100));
    book.settle("gen_1", 40);
    await book.hold(requestOf("gen_2", 10, { accountId: "user_b" }));
    await book.refresh(clock.now());
    await turnEventLoop(1);
    // What is spent and not saved stays leased.
    expect(bank.leaseOf("gateway_a")).toBe(40);
  });

  test("counts under a limit what runs and what is not saved of the time before it was set", async () => {
    const { book } = create(1_000);
    const limit = {
      meter: "key:key_a",
      of: "key",
      limit: null,
      since: 0,
      query: { keyId: "key_a" },
    } as const;
    const limited = { limits: [{ ...limit, limit: 100 }] };
    expect(await book.hold(requestOf("gen_1", 60, { limits: [limit] }))).toMatchObject({
      leasedFrom: ["balance"],
    });
    expect(await book.hold(requestOf("gen_2", 41, limited))).toMatchObject({ by: "key", available: 40 });
    book.settle("gen_1", 30);
    expect(await book.hold(requestOf("gen_3", 71, limited))).toMatchObject({ by: "key", available: 70 });
    // The bank of this test does not count what was spent under limits.
    book.saved(["gen_1"]);
    expect(heldBy(await book.hold(requestOf("gen_4", 100, limited)))).toBe(100);
  });

  test("holds nothing for a request that costs nothing, also beyond what is left", async () => {
    const { bank, book, clock } = create(100);
    const soon = (id: string, amount: number) =>
      Promise.race([book.hold(requestOf(id, amount)), pass(clock, 3_000)]);
    await book.hold(requestOf("gen_1", 100));
    book.settle("gen_1", 250);
    expect(await soon("gen_2", 1)).toMatchObject({ kind: "refused" });
    expect(await soon("gen_3", 0)).toMatchObject({ kind: "held", amount: 0 });
    bank.isAway = true;
    expect(await soon("gen_4", 0)).toMatchObject({ kind: "held", amount: 0 });
  });

  test("spends again what was charged for a record that the store rejects", async () => {
    const { bank, book } = create(100);
    await book.hold(requestOf("gen_1", 100));
    book.settle("gen_1", 100);
    book.credit("user_a", 100, ["balance"]);
    expect(heldBy(await book.hold(requestOf("gen_2", 100)))).toBe(100);
    expect(bank.leaseOf("gateway_a")).toBe(100);
  });
});
