import { describe, expect, test } from "bun:test";
import type { CreditChanges, LedgerStore } from "../../../../src/core/ledger/records/ledger-store.ts";
import { PLATFORM_ACCOUNT, type Transfer } from "../../../../src/core/ledger/records/records.ts";
import type { CreateStore } from "../create-store.ts";
import { grantOf } from "../samples.ts";

/** A ledger without transfers, to which tests write as other processes do. */
export interface CreditFeed {
  readonly ledger: Pick<LedgerStore, "findBalance" | "listCreditChanges">;
  /**
   * Begins a transaction that writes a transfer, and returns its commit. A database that runs one writing transaction at a time may
   * do all of it in the commit.
   */
  begin(transfer: Transfer): Promise<() => Promise<void>>;
}

/** The contract of a `LedgerStore` about credits that other processes write. */
export function testCreditChanges(createFeed: CreateStore<CreditFeed>): void {
  describe("the changes of credits", () => {
    const add = async (feed: CreditFeed, id: string, amount: number, fields: Partial<Transfer> = {}) => {
      const commit = await feed.begin(grantOf(id, amount, fields));
      await commit();
    };
    const amountsOf = ({ sums }: CreditChanges) =>
      Object.fromEntries(sums.map(({ accountId, credited, version }) => [accountId, [credited, version]]));
    /** Follows the changes as a hold book does: the newest version of each account counts. */
    async function follow({ ledger }: CreditFeed) {
      let { cursor } = await ledger.listCreditChanges(null, 10);
      const known: Record<string, readonly (number | undefined)[]> = {};
      return {
        known,
        async read() {
          for (let hasMore = true; hasMore; ) {
            const changes = await ledger.listCreditChanges(cursor, 2);
            ({ cursor, hasMore } = changes);
            for (const [accountId, [credited, version]] of Object.entries(amountsOf(changes)))
              if ((known[accountId]?.[1] ?? 0) < (version ?? 0)) known[accountId] = [credited, version];
          }
        },
      };
    }

    test("begin without an account, and later have each account with its sum and its number of transfers", async () => {
      const feed = await createFeed();
      await add(feed, "grant_1", 100);
      const start = await feed.ledger.listCreditChanges(null, 10);
      expect(start.sums).toEqual([]);
      await add(feed, "grant_2", 20);
      await add(feed, "correction_1", 5, { kind: "correction", from: "user_a", to: PLATFORM_ACCOUNT });
      await add(feed, "grant_3", 7, { to: "user_b" });
      const changes = await feed.ledger.listCreditChanges(start.cursor, 10);
      expect(amountsOf(changes)).toEqual({ user_a: [115, 3], user_b: [7, 1] });
      expect(changes.hasMore).toBe(false);
    });

    test("match the balance and the version that are read for one account", async () => {
      const feed = await createFeed();
      const unknown = { accountId: "user_a", balance: 0, credited: 0, version: 0 };
      expect(await feed.ledger.findBalance("user_a")).toEqual(unknown);
      const { cursor } = await feed.ledger.listCreditChanges(null, 10);
      await add(feed, "grant_1", 100);
      const [sum] = (await feed.ledger.listCreditChanges(cursor, 10)).sums;
      expect(sum).toEqual({ accountId: "user_a", credited: 100, version: 1 });
      expect(await feed.ledger.findBalance("user_a")).toEqual({ ...sum!, balance: 100 });
    });

    test("have no cost of a generation", async () => {
      const feed = await createFeed();
      await add(feed, "grant_1", 100);
      const { cursor } = await feed.ledger.listCreditChanges(null, 10);
      await add(feed, "gen_1", 30, { kind: "usage", from: "user_a", to: PLATFORM_ACCOUNT });
      const changed = (await feed.ledger.listCreditChanges(cursor, 10)).sums;
      expect(changed.filter(({ version }) => version > 1)).toEqual([]);
      const balance = { accountId: "user_a", balance: 70, credited: 100, version: 1 };
      expect(await feed.ledger.findBalance("user_a")).toEqual(balance);
    });

    test("are read in pages until there are no more", async () => {
      const feed = await createFeed();
      const follower = await follow(feed);
      for (let i = 1; i <= 5; i++) await add(feed, `grant_${i}`, i, { to: `user_${i}` });
      await follower.read();
      expect(follower.known).toEqual({
        user_1: [1, 1],
        user_2: [2, 1],
        user_3: [3, 1],
        user_4: [4, 1],
        user_5: [5, 1],
      });
    });

    test("include a transfer that commits after a later one, of another account or the same", async () => {
      const feed = await createFeed();
      const follower = await follow(feed);
      const commits = [
        await feed.begin(grantOf("grant_1", 1)),
        await feed.begin(grantOf("grant_2", 20, { to: "user_b" })),
        await feed.begin(grantOf("grant_3", 300)),
      ] as const;
      await commits[2]();
      await follower.read();
      expect(follower.known).toEqual({ user_a: [300, 1] });
      await commits[1]();
      await follower.read();
      expect(follower.known).toEqual({ user_a: [300, 1], user_b: [20, 1] });
      await commits[0]();
      await follower.read();
      expect(follower.known).toEqual({ user_a: [301, 2], user_b: [20, 1] });
    });

    test("include a transfer that had begun before the first call and commits after it", async () => {
      const feed = await createFeed();
      const commit = await feed.begin(grantOf("grant_1", 1));
      await add(feed, "grant_2", 20);
      const follower = await follow(feed);
      await commit();
      await follower.read();
      expect(follower.known).toEqual({ user_a: [21, 2] });
    });
  });
}
