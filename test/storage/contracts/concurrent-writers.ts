import { describe, expect, test } from "bun:test";
import type { RecordEntry, UsageRecord } from "../../../src/core/usage/records/records.ts";
import { hoursOfDays, type UsageQuery } from "../../../src/core/usage/reports/report.ts";
import type { UsageReports } from "../../../src/core/usage/reports/usage-store.ts";
import type { CreateStore } from "./create-store.ts";
import type { MoneyStores } from "./money/ledger-store.ts";
import { grantOf, openUsageOf, usageOf } from "./samples.ts";

/** The stores of one process. */
export interface WritingStores extends MoneyStores {
  readonly usage: MoneyStores["usage"] & UsageReports;
}

const ALL: UsageQuery = {
  groups: ["model"],
  ...hoursOfDays(0, 10),
  accountId: null,
  userId: null,
  keyId: null,
};

const ROUNDS = 10;

/** The contract of the stores of generations and of the ledger about processes that write at the same time. */
export function testConcurrentWriters(createStores: CreateStore<WritingStores>): void {
  describe("two processes that write at the same time", () => {
    const open = async () => [await createStores(), await createStores()] as const;
    const group = (round: number, of: (id: string, i: number) => RecordEntry) =>
      Array.from({ length: 20 }, (_, i) => of(`gen_${round}_${i}`, i));
    const check = async ({ ledger }: WritingStores) => {
      expect(await ledger.findDifferences()).toEqual([]);
      expect(await ledger.findUnmatchedUsage(9)).toEqual([]);
    };

    test("charge and count the same generations once, in whatever order each saves them", async () => {
      const [here, there] = await open();
      for (let round = 0; round < ROUNDS; round++) {
        const entries = group(round, (id) => usageOf(id));
        await Promise.all([here.usage.saveUsage(entries), there.usage.saveUsage([...entries].reverse())]);
      }
      const count = ROUNDS * 20;
      expect((await here.ledger.findBalance("user_a")).balance).toBe(-30 * count);
      expect(await here.ledger.sumSpending({ keyId: "key_a" })).toBe(30 * count);
      expect(await here.usage.sumUsage(ALL)).toMatchObject([{ requests: count, cost: 30 * count }]);
      await check(there);
    });

    test("end an open record once, when they end it differently", async () => {
      const [here, there] = await open();
      for (let round = 0; round < ROUNDS; round++) {
        await here.usage.saveUsage(group(round, (id) => openUsageOf(id)));
        const interrupted: Partial<UsageRecord> = { outcome: "interrupted", costNanodollars: 7 };
        await Promise.all([
          here.usage.saveUsage(group(round, (id) => usageOf(id))),
          there.usage.saveUsage(group(round, (id) => usageOf(id, interrupted))),
        ]);
      }
      let total = 0;
      for (let round = 0; round < ROUNDS; round++)
        for (const { record } of group(round, (id) => usageOf(id)))
          total += (await here.usage.findUsage(record.id))?.costNanodollars ?? Number.NaN;
      expect((await here.ledger.findBalance("user_a")).balance).toBe(-total);
      expect(await here.usage.sumUsage(ALL)).toMatchObject([{ requests: ROUNDS * 20, cost: total }]);
      await check(there);
    });

    test("charge generations of the same accounts and keys in opposite orders", async () => {
      const [here, there] = await open();
      const payers = (round: number, name: string, order: 1 | -1) =>
        group(round, (id, i) => {
          const payer = order > 0 ? i : 19 - i;
          return usageOf(`${id}_${name}`, { accountId: `org_${payer}`, keyId: `key_${payer}` });
        });
      for (let round = 0; round < ROUNDS; round++)
        await Promise.all([
          here.usage.saveUsage(payers(round, "here", 1)),
          there.usage.saveUsage(payers(round, "there", -1)),
        ]);
      for (let i = 0; i < 20; i++)
        expect((await here.ledger.findBalance(`org_${i}`)).balance).toBe(-30 * 2 * ROUNDS);
      await check(here);
    });

    test("add credits and take refunds and grants back while generations are saved", async () => {
      const [here, there] = await open();
      await here.ledger.addTransfer(grantOf("grant_limited", 1_000_000, { expiresAt: 10_000 }));
      for (let round = 0; round < ROUNDS; round++)
        await Promise.all([
          here.usage.saveUsage(group(round, (id) => usageOf(id))),
          there.ledger.addTransfer(grantOf(`grant_${round}`, 100)),
          ...(round === 0 ? [] : [there.ledger.addRefund(refundOf(round - 1))]),
        ]);
      await Promise.all([
        here.usage.saveUsage(group(ROUNDS, (id) => usageOf(id))),
        here.ledger.expireGrant("grant_limited", 10_001),
        there.ledger.expireGrant("grant_limited", 10_001),
      ]);
      const sums = await here.ledger.sumTransfers("user_a");
      expect(sums).toMatchObject({
        usage: -30 * 20 * (ROUNDS + 1),
        grant: 1_000_000 + 100 * ROUNDS,
        refund: 30 * (ROUNDS - 1),
      });
      expect(await here.ledger.findGrantsLeft("user_a")).toEqual([]);
      await check(there);
    });

    test("refund a generation once in all, when both ask for all of its cost", async () => {
      const [here, there] = await open();
      await here.usage.saveUsage([usageOf("gen_0_0")]);
      const refund = { ...refundOf(0), amount: null };
      const verdicts = await Promise.all([
        here.ledger.addRefund({ ...refund, id: `${refund.id}:one` }),
        there.ledger.addRefund({ ...refund, id: `${refund.id}:two` }),
      ]);
      expect(verdicts.map(({ kind }) => kind).sort()).toEqual(["refunded", "too_much"]);
      expect((await here.ledger.findBalance("user_a")).balance).toBe(0);
    });
  });
}

function refundOf(round: number) {
  const generationId = `gen_${round}_0`;
  return { id: `refund:${generationId}`, generationId, amount: 30, note: null, createdAt: 5_000 };
}
