import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { HoldRequest, SpendLimit } from "../../src/core/ledger/hold-book.ts";
import { MemoryHoldBook } from "../../src/core/ledger/memory-hold-book.ts";
import { PLATFORM_ACCOUNT } from "../../src/core/ledger/records.ts";
import { SqliteLedgerStore } from "../../src/storage/sqlite/ledger-store.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";
import { testCreditChanges } from "../storage/contracts/credit-changes.ts";
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
    return { ledger, begin: (transfer) => ledger.begin(transfer) };
  });
});

type Step = readonly ["begin" | "commit" | "load" | "refresh", number];

test("the hold book applies each credit exactly once, in whatever order transactions begin and commit", async () => {
  const step = fc.tuple(fc.constantFrom("begin", "commit", "load", "refresh"), fc.nat(2));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps: readonly Step[]) => {
      const ledger = new ConcurrentLedger();
      const holdBook = new MemoryHoldBook({ store: ledger, drain });
      const open: (() => Promise<void>)[] = [];
      const work: Promise<unknown>[] = [];
      let ids = 0;
      for (const [kind, at] of steps) {
        if (kind === "begin")
          open.push(ledger.begin(grantOf(`grant_${ids++}`, 1 + at, { to: `user_${at}` })));
        // Loads and refreshes are not awaited, so that they run into each other.
        else if (kind === "commit") await open.splice(at, 1)[0]?.();
        else work.push(kind === "load" ? holdBook.balanceOf(`user_${at}`) : holdBook.refresh(0));
      }
      await Promise.all(work);
      for (const commit of open) await commit();
      await holdBook.refresh(0);
      for (const accountId of ["user_0", "user_1", "user_2"]) {
        const { balance } = await holdBook.balanceOf(accountId);
        expect(balance).toBe((await ledger.findBalance(accountId)).balance);
      }
    }),
  );
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
