import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { HoldRequest, SpendLimit } from "../../src/core/ledger/holds/hold-book.ts";
import { MemoryHoldBook, type MemoryHoldBookParts } from "../../src/core/ledger/holds/memory-hold-book.ts";
import { PLATFORM_ACCOUNT } from "../../src/core/ledger/records/records.ts";
import { SqliteLedgerStore } from "../../src/storage/sqlite/ledger/ledger-store.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage/usage-store.ts";
import { testCreditChanges } from "../storage/contracts/money/credit-changes.ts";
import { grantOf } from "../storage/contracts/samples.ts";
import { useSqlite } from "../storage/sqlite-connections.ts";
import { ConcurrentLedger } from "./concurrent-ledger.ts";
import { testHoldBook } from "./contracts/hold-book.ts";

const drain = async () => {};

describe("the hold book in memory, over SQLite", () => {
  const connect = useSqlite();
  testHoldBook(() => {
    const database = connect();
    const ledger = new SqliteLedgerStore(database);
    return {
      holdBook: new MemoryHoldBook({ store: ledger, drain }),
      ledger,
      usage: new SqliteUsageStore(database),
    };
  });
});

describe("the model of a database that runs transactions side by side", () => {
  testCreditChanges(() => {
    const ledger = new ConcurrentLedger();
    return { ledger, begin: async (transfer) => ledger.begin(transfer) };
  });
});

type Step = readonly ["begin" | "commit" | "transfer" | "load" | "refresh", number];

/** Takes its time before and after each read: by the next of `delays`, in turns of the microtask queue. */
function readSlowly(ledger: ConcurrentLedger, delays: readonly number[]): MemoryHoldBookParts["store"] {
  let waits = 0;
  const wait = async () => {
    for (let left = delays[waits++ % delays.length] ?? 0; left > 0; left--) await null;
  };
  const slowly = async <T>(read: () => Promise<T>): Promise<T> => {
    await wait();
    const found = await read();
    await wait();
    return found;
  };
  return {
    findBalance: (accountId) => slowly(() => ledger.findBalance(accountId)),
    listCreditChanges: (cursor) => slowly(() => ledger.listCreditChanges(cursor)),
    sumSpending: () => slowly(() => ledger.sumSpending()),
  };
}

test("the hold book applies each credit exactly once, in whatever order transactions begin and commit", async () => {
  const step = fc.tuple(fc.constantFrom("begin", "commit", "transfer", "load", "refresh"), fc.nat(1));
  const delays = fc.array(fc.nat(60), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), delays, async (steps: readonly Step[], delayed) => {
      const ledger = new ConcurrentLedger();
      const holdBook = new MemoryHoldBook({ store: readSlowly(ledger, delayed), drain, maxCached: 1 });
      const open: (() => Promise<void>)[] = [];
      const work: Promise<unknown>[] = [];
      let ids = 0;
      for (const [kind, at] of steps) {
        if (kind === "begin")
          open.push(ledger.begin(grantOf(`grant_${ids++}`, 1 + at, { to: `user_${at}` })));
        else if (kind === "transfer")
          await ledger.begin(grantOf(`grant_${ids++}`, 1, { to: `user_${at}` }))();
        // Loads and refreshes are not awaited, so that they run into each other.
        else if (kind === "commit") await open.splice(at, 1)[0]?.();
        else work.push(kind === "load" ? holdBook.balanceOf(`user_${at}`) : holdBook.refresh(0));
        for (let turns = 0; turns < 5; turns++) await null;
      }
      await Promise.all(work);
      for (const commit of open) await commit();
      await holdBook.refresh(0);
      for (const accountId of ["user_0", "user_1"]) {
        const { balance } = await holdBook.balanceOf(accountId);
        expect(balance).toBe((await ledger.findBalance(accountId)).balance);
      }
    }),
    { numRuns: 1_000 },
  );
});

describe("a credit that another process writes", () => {
  const grant = (ledger: ConcurrentLedger) => ledger.begin(grantOf("grant_1", 1))();
  const runMicrotasks = async () => {
    for (let turns = 0; turns < 50; turns++) await null;
  };

  test("is counted once if it commits after its account's balance was read and before that balance arrives", async () => {
    const ledger = new ConcurrentLedger();
    const arrival = Promise.withResolvers<void>();
    const store: MemoryHoldBookParts["store"] = {
      listCreditChanges: (cursor) => ledger.listCreditChanges(cursor),
      sumSpending: () => ledger.sumSpending(),
      async findBalance(accountId) {
        const found = await ledger.findBalance(accountId);
        await arrival.promise;
        return found;
      },
    };
    const holdBook = new MemoryHoldBook({ store, drain });
    const loaded = holdBook.balanceOf("user_a");
    await runMicrotasks();
    await grant(ledger);
    const refreshed = holdBook.refresh(0);
    await runMicrotasks();
    arrival.resolve();
    await Promise.all([loaded, refreshed]);
    expect(holdBook.cachedBalanceOf("user_a")).toBe(1);
  });

  test("is counted if it commits while the first balances of two accounts are loaded", async () => {
    const ledger = new ConcurrentLedger();
    const second = Promise.withResolvers<void>();
    let calls = 0;
    const store: MemoryHoldBookParts["store"] = {
      findBalance: (accountId) => ledger.findBalance(accountId),
      sumSpending: () => ledger.sumSpending(),
      async listCreditChanges(cursor) {
        if (++calls === 2) await second.promise;
        return ledger.listCreditChanges(cursor);
      },
    };
    const holdBook = new MemoryHoldBook({ store, drain });
    const loads = [holdBook.balanceOf("user_a"), holdBook.balanceOf("user_b")] as const;
    expect((await loads[0]).balance).toBe(0);
    await grant(ledger);
    second.resolve();
    await loads[1];
    await holdBook.refresh(0);
    expect(holdBook.cachedBalanceOf("user_a")).toBe(1);
  });
});

describe("a hold book with room for two accounts", () => {
  const requestOf = (id: string, accountId: string, fields: Partial<HoldRequest> = {}): HoldRequest => ({
    id,
    accountId,
    overdraft: 0,
    amount: 10,
    limits: [],
    expiresAt: 1_000,
    ...fields,
  });

  /** A hold book over a ledger whose costs reach the store when the book drains them. */
  async function createSmallBook(maxCached = 2) {
    const ledger = new ConcurrentLedger();
    const unsaved: (() => Promise<void>)[] = [];
    let drains = 0;
    let isDrainBroken = false;
    const holdBook = new MemoryHoldBook({
      store: ledger,
      maxCached,
      async drain() {
        drains += 1;
        if (isDrainBroken) throw new Error("the store is unavailable");
        for (const save of unsaved.splice(0)) await save();
      },
    });
    for (const id of ["user_a", "user_b", "user_c"])
      await ledger.begin(grantOf(`grant_${id}`, 100, { to: id }))();
    return {
      holdBook,
      countDrains: () => drains,
      breakDrain(isBroken: boolean) {
        isDrainBroken = isBroken;
      },
      async charge(id: string, accountId: string) {
        await holdBook.hold(requestOf(id, accountId));
        const cost = { kind: "usage", from: accountId, to: PLATFORM_ACCOUNT } as const;
        unsaved.push(ledger.begin(grantOf(id, 10, cost)));
        holdBook.settle(id, 10);
      },
    };
  }

  test("evicts an account and loads it again with every cost that was charged", async () => {
    const { holdBook, countDrains, charge } = await createSmallBook();
    await charge("gen_1", "user_a");
    await charge("gen_2", "user_b");
    expect(countDrains()).toBe(0);
    await charge("gen_3", "user_c");
    expect(holdBook.cachedBalanceOf("user_a")).toBeNull();
    expect(await holdBook.balanceOf("user_a")).toEqual({ balance: 90, held: 0 });
    expect(countDrains()).toBe(1);
  });

  test("does not load an evicted account while its costs cannot be saved", async () => {
    const { holdBook, breakDrain, charge } = await createSmallBook();
    for (const [id, accountId] of Object.entries({ gen_1: "user_a", gen_2: "user_b", gen_3: "user_c" }))
      await charge(id, accountId);
    breakDrain(true);
    await expect(holdBook.hold(requestOf("gen_4", "user_a"))).rejects.toThrow("unavailable");
    breakDrain(false);
    expect((await holdBook.hold(requestOf("gen_4", "user_a"))).kind).toBe("held");
    expect(await holdBook.balanceOf("user_a")).toEqual({ balance: 90, held: 10 });
  });

  test("never evicts an account with a hold, also when the hold has lapsed", async () => {
    const { holdBook, charge } = await createSmallBook();
    await holdBook.hold(requestOf("gen_1", "user_a"));
    await holdBook.refresh(1_000);
    await charge("gen_2", "user_b");
    await charge("gen_3", "user_c");
    expect(holdBook.cachedBalanceOf("user_a")).toBe(100);
    holdBook.settle("gen_1", 10);
    expect(await holdBook.balanceOf("user_a")).toEqual({ balance: 90, held: 0 });
  });

  test("keeps what is held under a spending limit, and lets limits without a hold go", async () => {
    const { holdBook } = await createSmallBook(1);
    const limitOf = (key: string): SpendLimit => ({
      meter: `key:${key}`,
      of: "key",
      limit: 15,
      since: 0,
      query: { keyId: key },
    });
    await holdBook.hold(requestOf("gen_1", "user_a", { limits: [limitOf("key_a")] }));
    await holdBook.hold(requestOf("gen_2", "user_b", { limits: [limitOf("key_b")] }));
    expect(await holdBook.hold(requestOf("gen_3", "user_a", { limits: [limitOf("key_a")] }))).toMatchObject({
      kind: "refused",
      by: "key",
      available: 5,
    });
    expect(holdBook.holds().map(({ id }) => id)).toEqual(["gen_1", "gen_2"]);
  });
});
