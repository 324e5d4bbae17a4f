import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { GrantSweeper } from "../../src/core/ledger/credits/expire-grants.ts";
import { Ledger } from "../../src/core/ledger/credits/ledger.ts";
import type { HoldRequest, SpendLimit } from "../../src/core/ledger/holds/hold-book.ts";
import { MemoryHoldBook } from "../../src/core/ledger/holds/memory-hold-book.ts";
import type { LedgerStore } from "../../src/core/ledger/records/ledger-store.ts";
import { SqliteLedgerStore } from "../../src/storage/sqlite/ledger/ledger-store.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage/usage-store.ts";
import { grantOf, usageOf } from "../storage/contracts/samples.ts";
import { useSqlite } from "../storage/sqlite-connections.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { createTestClock } from "../support/test-clock.ts";

const NOW = 10_000;

/** Generations that end are saved by `drain`, and not before. */
class Books {
  readonly ledger: SqliteLedgerStore;
  readonly book: MemoryHoldBook;
  /** Called after each drain, and during each sum of spending. */
  onDrained = (): void => {};
  onSum = (): void => {};
  private readonly usage: SqliteUsageStore;
  private readonly unsaved: ReturnType<typeof usageOf>[] = [];

  constructor(database: Database, maxCached?: number) {
    this.ledger = new SqliteLedgerStore(database);
    this.usage = new SqliteUsageStore(database);
    const { ledger } = this;
    this.book = new MemoryHoldBook({
      store: {
        findBalance: (accountId) => ledger.findBalance(accountId),
        listCreditChanges: (cursor, limit) => ledger.listCreditChanges(cursor, limit),
        sumSpending: async (query) => {
          const spent = await ledger.sumSpending(query);
          this.onSum();
          return spent;
        },
      },
      drain: () => this.drain(),
      ...(maxCached === undefined ? {} : { maxCached }),
    });
  }

  async drain(): Promise<void> {
    if (this.unsaved.length > 0) await this.usage.saveUsage(this.unsaved.splice(0));
    this.onDrained();
  }

  async begin(id: string, fields: Partial<HoldRequest> = {}) {
    const spender = { keyId: "key_a", accountId: "user_a", userId: null, createdAt: 1_000 } as never;
    return this.book.hold({
      id,
      accountId: "user_a",
      overdraft: 0,
      amount: 60,
      limits: [],
      expiresAt: Number.POSITIVE_INFINITY,
      spender,
      ...fields,
    });
  }

  /** Ends a generation. Its record waits for the next drain. */
  end(id: string, cost: number, accountId = "user_a"): void {
    this.book.settle(id, cost);
    this.unsaved.push(usageOf(id, { accountId, keyId: "key_a", costNanodollars: cost, createdAt: 1_000 }));
  }
}

describe("a grant that expires", () => {
  const connect = useSqlite();

  async function createBooks(): Promise<{ readonly books: Books; readonly sweeper: GrantSweeper }> {
    const books = new Books(connect());
    await books.ledger.addTransfer({ ...grantOf("grant_1", 100), to: "user_a", expiresAt: NOW - 1 });
    const sweeper = new GrantSweeper({ store: books.ledger, holdBook: books.book, recorder: books });
    return { books, sweeper };
  }
  const balanceOf = async (books: Books) => (await books.ledger.findBalance("user_a")).balance;

  test("does not take back what a generation has spent whose record is not saved yet", async () => {
    const { books, sweeper } = await createBooks();
    await books.begin("gen_1");
    books.end("gen_1", 60);
    await sweeper.sweep(NOW);
    await books.drain();
    expect(await balanceOf(books)).toBe(0);
  });

  test("does not take back what a generation spends that ends while the grant is being taken back", async () => {
    const { books, sweeper } = await createBooks();
    await books.begin("gen_1");
    await sweeper.sweep(NOW);
    expect(await balanceOf(books)).toBe(100);
    // The next sweep has saved everything when the generation ends.
    books.onDrained = () => {
      books.onDrained = () => {};
      books.end("gen_1", 60);
    };
    await sweeper.sweep(NOW + 1);
    await books.drain();
    expect(await balanceOf(books)).toBe(0);
  });
});

describe("money that comes to an account", () => {
  const connect = useSqlite();

  test.each(["addRefund", "addTransfer"] as const)(
    "can be spent as soon as the call has returned, however long the store takes: %s",
    async (name) => {
      const books = new Books(connect());
      const credit = { ...grantOf("grant_2", 60), to: "user_a" };
      await books.ledger.addTransfer({ ...credit, id: "grant_1" });
      await books.begin("gen_1");
      // The record is not saved when the refund is asked for.
      books.end("gen_1", 60);
      const written = Promise.withResolvers<void>();
      const slow = async (...args: readonly unknown[]) => {
        await written.promise;
        return Reflect.apply(books.ledger[name], books.ledger, args);
      };
      const store: LedgerStore = Object.assign(Object.create(books.ledger), { [name]: slow });
      const clock = createTestClock(NOW);
      const ledger = new Ledger({ store, holdBook: books.book, recorder: books, clock, holdMs: 3_600_000 });
      const refund = { id: "refund:gen_1", generationId: "gen_1", amount: null, note: null, createdAt: NOW };
      const credited = name === "addRefund" ? ledger.refund(refund) : ledger.transfer(credit);
      await turnEventLoop(5);
      expect(await books.begin("gen_2")).toMatchObject({ kind: "refused" });
      written.resolve();
      expect(await credited).toEqual(
        name === "addRefund" ? expect.objectContaining({ kind: "refunded" }) : true,
      );
      expect(await books.begin("gen_3")).toMatchObject({ kind: "held", amount: 60 });
    },
  );
});

describe("a refund", () => {
  const connect = useSqlite();

  test("is of what a generation has cost whose record is not saved yet", async () => {
    const books = new Books(connect());
    await books.ledger.addTransfer({ ...grantOf("grant_1", 100), to: "user_a" });
    const drain = async () => {
      await turnEventLoop(1);
      await books.drain();
    };
    const { ledger: store, book: holdBook } = books;
    const ledger = new Ledger({
      store,
      holdBook,
      recorder: { drain },
      clock: createTestClock(),
      holdMs: 60_000,
    });
    await books.begin("gen_1");
    books.end("gen_1", 60);
    const refund = { id: "refund_1", generationId: "gen_1", amount: null, note: null, createdAt: NOW };
    expect(await ledger.refund(refund)).toMatchObject({ kind: "refunded", transfer: { amount: 60 } });
    expect((await ledger.balanceOf("user_a")).balance).toBe(100);
  });
});

describe("a balance that was evicted from memory", () => {
  const connect = useSqlite();

  test("has every cost that was charged before, each time that it is loaded again", async () => {
    const books = new Books(connect(), 1);
    for (const account of ["a", "b"])
      await books.ledger.addTransfer({ ...grantOf(`grant_${account}`, 1_000), to: `user_${account}` });
    let expected = 1_000;
    for (let round = 0; round < 3; round++) {
      await books.begin(`gen_${round}`);
      books.end(`gen_${round}`, 60);
      expected -= 60;
      // Loading another account evicts this one.
      await books.book.balanceOf("user_b");
      expect((await books.book.balanceOf("user_a")).balance).toBe(expected);
    }
  });
});

describe("a limit that is set while generations run", () => {
  const connect = useSqlite();
  const limit: SpendLimit = {
    meter: "period:key_a/day",
    of: "key",
    limit: 100,
    since: 0,
    query: { keyId: "key_a" },
    covers: () => true,
  };

  test("counts a generation once that ends while what was spent before is being summed", async () => {
    const books = new Books(connect());
    await books.ledger.addTransfer({ ...grantOf("grant_1", 1_000), to: "user_a" });
    await books.begin("gen_1");
    books.onSum = () => {
      books.onSum = () => {};
      books.end("gen_1", 60);
    };
    expect(await books.begin("gen_2", { amount: 50, limits: [limit] })).toMatchObject({
      kind: "refused",
      available: 40,
    });
    expect(await books.begin("gen_3", { amount: 40, limits: [limit] })).toMatchObject({ kind: "held" });
  });

  test("counts a generation that still runs by what it holds, and by its cost once it has ended", async () => {
    const books = new Books(connect());
    await books.ledger.addTransfer({ ...grantOf("grant_1", 1_000), to: "user_a" });
    await books.begin("gen_1");
    expect(await books.begin("gen_2", { amount: 50, limits: [limit] })).toMatchObject({ available: 40 });
    books.end("gen_1", 10);
    await books.drain();
    expect(await books.begin("gen_3", { amount: 91, limits: [limit] })).toMatchObject({ available: 90 });
    expect(await books.begin("gen_4", { amount: 90, limits: [limit] })).toMatchObject({ kind: "held" });
  });
});
