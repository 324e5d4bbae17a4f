import { describe, expect, test } from "bun:test";
import { RejectedRecordError } from "../../../src/base/failures/store-error.ts";
import { lowestIdAt } from "../../../src/base/secrets/ids.ts";
import type { UsageRetention } from "../../../src/core/usage/records/retention.ts";
import { hoursOfDays } from "../../../src/core/usage/reports/report.ts";
import type { UsageReports } from "../../../src/core/usage/reports/usage-store.ts";
import type { CreateStore } from "./create-store.ts";
import type { MoneyStores } from "./money/ledger-store.ts";
import { grantOf, openUsageOf, usageOf } from "./samples.ts";

const DAY_MS = 86_400_000;

/** The stores that a deletion changes. */
export interface RetentionStores extends MoneyStores {
  readonly usage: MoneyStores["usage"] & UsageReports;
  readonly retention: UsageRetention;
  /** Returns the tags by which generations are found, one for each generation that has it. */
  listTags(): Promise<readonly string[]>;
}

const idOn = (day: number, n = 0): string => `${lowestIdAt("gen", day * DAY_MS + n)}0000000000000000`;
const endedOn = (day: number, n = 0, fields = {}) =>
  usageOf(idOn(day, n), { createdAt: day * DAY_MS + n, finishedAt: day * DAY_MS + n + 1, ...fields });

/** The contract of a `UsageRetention`. */
export function testRetention(createStores: CreateStore<RetentionStores>): void {
  describe("the deletion of old generations", () => {
    async function dropBefore({ retention }: RetentionStores, day: number): Promise<void> {
      while ((await retention.dropUsage(day)).hasMore);
    }

    test("deletes the generations and charges of the days before, and leaves balances, sums and checks as they are", async () => {
      const stores = await createStores();
      const { ledger, usage } = stores;
      await ledger.addTransfer(grantOf("grant_1", 1_000));
      const many = Array.from({ length: 600 }, (_, n) => endedOn(101, n, { costNanodollars: 1 }));
      await usage.saveUsage([endedOn(100), ...many, endedOn(102)]);
      await dropBefore(stores, 102);
      expect(await usage.findUsage(idOn(100))).toBeNull();
      expect(await ledger.findTransfer(idOn(101, 599))).toBeNull();
      expect((await usage.findUsage(idOn(102)))?.costNanodollars).toBe(30);
      expect((await ledger.findBalance("user_a")).balance).toBe(1_000 - 30 - 600 - 30);
      expect(await ledger.sumTransfers("user_a")).toMatchObject({ usage: -660, grant: 1_000 });
      const all = { accountId: null, userId: null, keyId: null, ...hoursOfDays(0, 200) };
      expect(await usage.sumUsage({ ...all, groups: ["model"] })).toMatchObject([
        { requests: 602, cost: 660 },
      ]);
      expect(await ledger.findDifferences()).toEqual([]);
      expect(await ledger.findUnmatchedUsage(9)).toEqual([]);
    });

    test("deletes the tags of the generations, and leaves sums by tag as they are", async () => {
      const { usage, retention, listTags } = await createStores();
      const many = Array.from({ length: 300 }, (_, n) => endedOn(100, n, { tags: ["a", "b"] }));
      await usage.saveUsage([
        ...many,
        endedOn(101, 0, { tags: ["a", "c"] }),
        endedOn(101, 1, { costNanodollars: 1 }),
      ]);
      expect(await listTags()).toHaveLength(602);
      while ((await retention.dropUsage(101)).hasMore);
      expect(await listTags()).toEqual(["a", "c"]);
      const all = { accountId: null, userId: null, keyId: null, ...hoursOfDays(0, 200) };
      const lines = await usage.sumUsage({ ...all, groups: ["tag"] });
      expect(lines.map(({ groups, requests }) => [...groups, requests])).toEqual([
        ["a", 301],
        ["b", 300],
        ["c", 1],
        [null, 1],
      ]);
    });

    test("rejects a deleted generation that is saved again, and charges nothing for it", async () => {
      const stores = await createStores();
      await stores.usage.saveUsage([endedOn(100)]);
      await dropBefore(stores, 101);
      for (const entry of [endedOn(100), endedOn(100, 5)]) {
        const saving = stores.usage.saveUsage([entry]);
        expect(await saving.catch((error) => error)).toBeInstanceOf(RejectedRecordError);
      }
      await stores.usage.saveUsage([endedOn(101)]);
      expect((await stores.ledger.findBalance("user_a")).balance).toBe(-60);
      expect(await stores.ledger.findDifferences()).toEqual([]);
    });

    test("keeps a generation that is open until it has ended", async () => {
      const stores = await createStores();
      const { usage, ledger } = stores;
      await usage.saveUsage([openUsageOf(idOn(100)), endedOn(99), endedOn(101)]);
      await dropBefore(stores, 102);
      expect(await usage.findUsage(idOn(99))).toBeNull();
      expect((await usage.findUsage(idOn(100)))?.outcome).toBe("open");
      expect(await usage.findUsage(idOn(101))).toBeNull();
      await usage.saveUsage([endedOn(100)]);
      expect((await ledger.findBalance("user_a")).balance).toBe(-90);
      await dropBefore(stores, 102);
      expect(await usage.findUsage(idOn(100))).toBeNull();
      expect(await ledger.findDifferences()).toEqual([]);
    });

    test("leaves unchanged what is left of grants that expire", async () => {
      const stores = await createStores();
      const { usage, ledger } = stores;
      await ledger.addTransfer(grantOf("grant_kept", 100));
      await ledger.addTransfer(grantOf("grant_limited", 50, { expiresAt: 10_000 }));
      await usage.saveUsage([endedOn(100), endedOn(100, 1)]);
      await ledger.addTransfer(grantOf("grant_later", 20, { expiresAt: 9_000 }));
      await usage.saveUsage([endedOn(100, 2, { costNanodollars: 5 })]);
      const before = await ledger.findGrantsLeft("user_a");
      expect(before.map(({ id, left }) => [id, left])).toEqual([
        ["grant_later", 15],
        ["grant_limited", 0],
      ]);
      await dropBefore(stores, 101);
      expect(await ledger.findGrantsLeft("user_a")).toEqual(before);
      expect(await ledger.expireGrant("grant_later", 9_001)).toBe(15);
      expect((await ledger.findBalance("user_a")).balance).toBe(90);
    });

    test("tells that a deleted generation can no longer be refunded", async () => {
      const stores = await createStores();
      await stores.usage.saveUsage([endedOn(100)]);
      await dropBefore(stores, 101);
      const refund = { amount: null, note: null, createdAt: 5_000 };
      const verdictOn = (generationId: string) =>
        stores.ledger.addRefund({ ...refund, id: `refund:${generationId}`, generationId });
      expect(await verdictOn(idOn(100))).toEqual({ kind: "dropped" });
      expect(await verdictOn(idOn(101))).toEqual({ kind: "unknown" });
    });

    test("keeps generations whose ids have no time", async () => {
      const stores = await createStores();
      await stores.usage.saveUsage([usageOf("gen_1"), endedOn(100)]);
      await dropBefore(stores, 101);
      expect(await stores.usage.findUsage("gen_1")).not.toBeNull();
      await stores.usage.saveUsage([usageOf("gen_2")]);
      expect(await stores.usage.findUsage("gen_2")).not.toBeNull();
    });
  });
}
