import { describe, expect, test } from "bun:test";
import type {
  LedgerStore,
  RefundEntry,
  SpendQuery,
} from "../../../../src/core/ledger/records/ledger-store.ts";
import { PLATFORM_ACCOUNT, refundIdOf } from "../../../../src/core/ledger/records/records.ts";
import type { UsageStore } from "../../../../src/core/usage/reports/usage-store.ts";
import type { CreateStore } from "../create-store.ts";
import { grantOf, openUsageOf, usageOf } from "../samples.ts";

const DAY_MS = 86_400_000;

/** A ledger store and a usage store over the same data: a generation's cost reaches the ledger with its record. */
export interface MoneyStores {
  readonly ledger: LedgerStore;
  readonly usage: UsageStore;
}

const balanceIn = async ({ ledger }: MoneyStores, accountId = "user_a") =>
  (await ledger.findBalance(accountId)).balance;
const idsOf = (entries: readonly { readonly id: string }[]) => entries.map(({ id }) => id);

/** The contract of a `LedgerStore`. */
export function testLedgerStore(createStores: CreateStore<MoneyStores>): void {
  describe("a ledger store", () => {
    testTransfers(createStores);
    testUsage(createStores);
    testRefunds(createStores);
    testGrants(createStores);
    testChecks(createStores);
  });
}

function testTransfers(createStores: CreateStore<MoneyStores>): void {
  test("adds a transfer once, whichever connection adds it, and moves both balances", async () => {
    const [here, there] = [await createStores(), await createStores()];
    expect(await here.ledger.addTransfer(grantOf("grant_1", 100))).toBe(true);
    expect(await there.ledger.addTransfer(grantOf("grant_1", 100))).toBe(false);
    expect(await balanceIn(there)).toBe(100);
    expect(await balanceIn(there, PLATFORM_ACCOUNT)).toBe(-100);
    expect(await balanceIn(there, "user_b")).toBe(0);
    expect(await here.ledger.findTransfer("grant_1")).toEqual({ ...grantOf("grant_1", 100), place: 1 });
    expect(await here.ledger.findTransfer("grant_2")).toBeNull();
  });

  test("lists an account's transfers newest first, page by page, of all kinds or of one", async () => {
    const stores = await createStores();
    for (let i = 1; i <= 5; i++) await stores.ledger.addTransfer(grantOf(`grant_${i}`, i));
    await stores.usage.saveUsage([usageOf("gen_1")]);
    const list = (...page: [before: number, limit: number, kind?: "grant" | "usage"]) =>
      stores.ledger.listTransfers("user_a", ...page);
    const first = await list(Number.MAX_SAFE_INTEGER, 4);
    expect(idsOf(first)).toEqual(["gen_1", "grant_5", "grant_4", "grant_3"]);
    expect(idsOf(await list(first.at(-1)!.place, 4))).toEqual(["grant_2", "grant_1"]);
    expect(idsOf(await list(Number.MAX_SAFE_INTEGER, 2, "grant"))).toEqual(["grant_5", "grant_4"]);
    expect(idsOf(await list(Number.MAX_SAFE_INTEGER, 9, "usage"))).toEqual(["gen_1"]);
  });

  test("sums an account's transfers by kind", async () => {
    const { ledger, usage } = await createStores();
    await ledger.addTransfer(grantOf("grant_1", 100));
    await ledger.addTransfer(grantOf("purchase_1", 50, { kind: "purchase" }));
    const correction = { kind: "correction", from: "user_a", to: PLATFORM_ACCOUNT } as const;
    await ledger.addTransfer(grantOf("correction_1", 20, correction));
    await usage.saveUsage([usageOf("gen_1")]);
    expect(await ledger.sumTransfers("user_a")).toEqual({
      usage: -30,
      grant: 100,
      purchase: 50,
      refund: 0,
      expiry: 0,
      correction: -20,
    });
  });
}

function testUsage(createStores: CreateStore<MoneyStores>): void {
  test("charges a generation once, when it has ended, however often its record is saved", async () => {
    const stores = await createStores();
    const { ledger, usage } = stores;
    await ledger.addTransfer(grantOf("grant_1", 100));
    await usage.saveUsage([openUsageOf("gen_1")]);
    expect(await balanceIn(stores)).toBe(100);
    await usage.saveUsage([usageOf("gen_1"), usageOf("gen_2", { costNanodollars: 5 })]);
    const again = usageOf("gen_1", { outcome: "interrupted", costNanodollars: 99 });
    await usage.saveUsage([usageOf("gen_1"), again]);
    expect(await balanceIn(stores)).toBe(65);
    expect(await ledger.sumSpending({ keyId: "key_a" })).toBe(35);
    expect(await ledger.findDifferences()).toEqual([]);
  });

  test("writes no transfer for anonymous use and for a generation that cost nothing", async () => {
    const { ledger, usage } = await createStores();
    await usage.saveUsage([
      usageOf("gen_1", { accountId: null, keyId: null, userId: null, costNanodollars: 0 }),
      usageOf("gen_2", { costNanodollars: 0 }),
    ]);
    expect([await ledger.findTransfer("gen_1"), await ledger.findTransfer("gen_2")]).toEqual([null, null]);
  });

  test("sums spending by the day on which requests came, whenever their answers ended", async () => {
    const { ledger, usage } = await createStores();
    const createdAt = 7 * DAY_MS - 1;
    await usage.saveUsage([
      usageOf("gen_1", { createdAt, finishedAt: 7 * DAY_MS + 1 }),
      usageOf("gen_2", { createdAt: 7 * DAY_MS, costNanodollars: 5 }),
      usageOf("gen_3", { createdAt, userId: "user_b", keyId: "key_b", costNanodollars: 700 }),
      openUsageOf("gen_4", { createdAt, costNanodollars: 9_000 }),
    ]);
    const spent = (query: SpendQuery) => ledger.sumSpending(query);
    const on = (day: number) => ({ days: { from: day, to: day } });
    expect(await spent({ accountId: "user_a", userId: "user_a", ...on(6) })).toBe(30);
    expect(await spent({ accountId: "user_a", userId: "user_a", ...on(7) })).toBe(5);
    expect(await spent({ accountId: "user_a", ...on(6) })).toBe(730);
    expect(await spent({ accountId: "user_a", days: { from: 0, to: 30 } })).toBe(735);
    expect([await spent({ keyId: "key_a" }), await spent({ keyId: "key_b" })]).toEqual([35, 700]);
    expect(await spent({ accountId: "user_b", days: { from: 0, to: 30 } })).toBe(0);
  });
}

function testRefunds(createStores: CreateStore<MoneyStores>): void {
  const refundOf = (amount: number | null, name: string | null = null): RefundEntry => ({
    id: refundIdOf("gen_1", name),
    generationId: "gen_1",
    amount,
    note: "note",
    createdAt: 5_000,
  });

  test("refunds the rest of a generation's cost when no amount is given", async () => {
    const stores = await createStores();
    await stores.usage.saveUsage([usageOf("gen_1")]);
    const transfer = { id: "refund:gen_1", kind: "refund", from: PLATFORM_ACCOUNT, to: "user_a", amount: 30 };
    const verdict = await stores.ledger.addRefund(refundOf(null));
    expect(verdict).toMatchObject({
      kind: "refunded",
      transfer: { ...transfer, note: "note", createdAt: 5_000 },
    });
    expect(await balanceIn(stores)).toBe(0);
  });

  test("never refunds more than a generation cost, in all refunds together", async () => {
    const stores = await createStores();
    await stores.usage.saveUsage([usageOf("gen_1")]);
    expect(await stores.ledger.addRefund(refundOf(31))).toEqual({ kind: "too_much", left: 30 });
    expect((await stores.ledger.addRefund(refundOf(20))).kind).toBe("refunded");
    expect(await stores.ledger.addRefund(refundOf(11, "second"))).toEqual({ kind: "too_much", left: 10 });
    expect((await stores.ledger.addRefund(refundOf(null, "second"))).kind).toBe("refunded");
    expect(await stores.ledger.addRefund(refundOf(null, "third"))).toEqual({ kind: "too_much", left: 0 });
    expect(await balanceIn(stores)).toBe(0);
  });

  test("lists the refunds of one generation, the earliest first", async () => {
    const stores = await createStores();
    await stores.usage.saveUsage([usageOf("gen_1"), usageOf("gen_10")]);
    for (const refund of [refundOf(20), refundOf(1, "second"), refundOf(1, "another")])
      await stores.ledger.addRefund(refund);
    const twin = { ...refundOf(3), id: refundIdOf("gen_10", null), generationId: "gen_10" };
    await stores.ledger.addRefund(twin);
    const refunds = await stores.ledger.listRefunds("gen_1", 10);
    expect(refunds.map(({ id, amount }) => [id, amount])).toEqual([
      ["refund:gen_1", 20],
      ["refund:gen_1:second", 1],
      ["refund:gen_1:another", 1],
    ]);
    expect(await stores.ledger.listRefunds("gen_1", 2)).toHaveLength(2);
    expect(await stores.ledger.listRefunds("gen_2", 10)).toEqual([]);
  });

  test("counts only the refunds of the same generation against its cost", async () => {
    const { ledger, usage } = await createStores();
    await usage.saveUsage([usageOf("gen_1"), usageOf("gen_10")]);
    await ledger.addRefund({ ...refundOf(null), id: refundIdOf("gen_10", null), generationId: "gen_10" });
    expect(await ledger.addRefund(refundOf(30))).toMatchObject({ kind: "refunded" });
  });

  test("makes a refund once, whichever connection asks for it", async () => {
    const [here, there] = [await createStores(), await createStores()];
    await here.usage.saveUsage([usageOf("gen_1")]);
    await here.ledger.addRefund(refundOf(20));
    const again = await there.ledger.addRefund(refundOf(20));
    expect(again).toMatchObject({ kind: "exists", transfer: { id: "refund:gen_1", amount: 20 } });
    expect(await balanceIn(here)).toBe(-10);
  });

  test("refunds only what was charged for a generation", async () => {
    const { ledger, usage } = await createStores();
    await usage.saveUsage([usageOf("gen_1", { costNanodollars: 0 })]);
    await ledger.addTransfer(grantOf("grant_1", 100));
    expect(await ledger.addRefund(refundOf(null))).toEqual({ kind: "unknown" });
    expect(await ledger.addRefund({ ...refundOf(null), generationId: "grant_1" })).toEqual({
      kind: "unknown",
    });
  });
}

function testGrants(createStores: CreateStore<MoneyStores>): void {
  test("spends the grant that expires first before others, and money without an expiry last", async () => {
    const { ledger, usage } = await createStores();
    await ledger.addTransfer(grantOf("grant_kept", 100));
    await ledger.addTransfer(grantOf("grant_late", 20, { expiresAt: 20_000 }));
    await ledger.addTransfer(grantOf("grant_soon", 20, { expiresAt: 10_000 }));
    await usage.saveUsage([usageOf("gen_1")]);
    expect(await ledger.findGrantsLeft("user_a")).toEqual([
      { id: "grant_soon", left: 0, expiresAt: 10_000 },
      { id: "grant_late", left: 10, expiresAt: 20_000 },
    ]);
  });

  test("takes back what is left of an expired grant, once", async () => {
    const stores = await createStores();
    const { ledger, usage } = stores;
    await ledger.addTransfer(grantOf("grant_1", 100, { expiresAt: 10_000 }));
    await usage.saveUsage([usageOf("gen_1")]);
    expect(await ledger.listEndedGrants(9_999, 9)).toEqual([]);
    const ended = { id: "grant_1", accountId: "user_a", expiresAt: 10_000 };
    expect(await ledger.listEndedGrants(10_000, 9)).toEqual([ended]);
    expect(await ledger.expireGrant("grant_1", 10_001)).toBe(70);
    expect(await ledger.expireGrant("grant_1", 10_002)).toBe(0);
    expect(await ledger.findTransfer("expiry:grant_1")).toMatchObject({ kind: "expiry", amount: 70 });
    expect(await ledger.listEndedGrants(10_003, 9)).toEqual([]);
    expect(await ledger.findGrantsLeft("user_a")).toEqual([]);
    expect(await balanceIn(stores)).toBe(0);
  });

  test("lists expired grants page by page, those of one time by their ids", async () => {
    const { ledger } = await createStores();
    for (const id of ["grant_c", "grant_a", "grant_b"])
      await ledger.addTransfer(grantOf(id, 10, { expiresAt: 10_000 }));
    await ledger.addTransfer(grantOf("grant_0", 10, { expiresAt: 10_001 }));
    const first = await ledger.listEndedGrants(10_001, 2);
    const second = await ledger.listEndedGrants(10_001, 2, first.at(-1));
    expect([...first, ...second].map(({ id }) => id)).toEqual(["grant_a", "grant_b", "grant_c", "grant_0"]);
    expect(await ledger.listEndedGrants(10_001, 2, second.at(-1))).toEqual([]);
  });

  test("ends a grant that was used up without a transfer", async () => {
    const { ledger, usage } = await createStores();
    await ledger.addTransfer(grantOf("grant_1", 30, { expiresAt: 10_000 }));
    await usage.saveUsage([usageOf("gen_1")]);
    expect(await ledger.expireGrant("grant_1", 10_001)).toBe(0);
    expect(await ledger.findTransfer("expiry:grant_1")).toBeNull();
    expect(await ledger.listEndedGrants(10_003, 9)).toEqual([]);
  });
}

function testChecks(createStores: CreateStore<MoneyStores>): void {
  test("reports no difference and no unmatched generation after transfers of every kind", async () => {
    const { ledger, usage } = await createStores();
    await ledger.addTransfer(grantOf("grant_1", 100, { expiresAt: 10_000 }));
    await usage.saveUsage([usageOf("gen_1"), openUsageOf("gen_2"), usageOf("gen_3", { costNanodollars: 0 })]);
    const refund = { id: refundIdOf("gen_1", null), generationId: "gen_1", amount: 5 };
    await ledger.addRefund({ ...refund, note: null, createdAt: 5_000 });
    await ledger.expireGrant("grant_1", 10_001);
    expect(await ledger.findDifferences()).toEqual([]);
    expect(await ledger.findUnmatchedUsage(9)).toEqual([]);
  });

  test("reports a usage transfer without a record as unmatched", async () => {
    const { ledger } = await createStores();
    const stray = { kind: "usage", from: "user_a", to: PLATFORM_ACCOUNT } as const;
    await ledger.addTransfer(grantOf("gen_stray", 5, stray));
    const unmatched = [{ generationId: "gen_stray", recorded: 0, transferred: 5 }];
    expect(await ledger.findUnmatchedUsage(9)).toEqual(unmatched);
  });
}
