import { describe, expect, test } from "bun:test";
import { RejectedRecordError } from "../../../../src/base/failures/store-error.ts";
import type { UsageRecord } from "../../../../src/core/usage/records/records.ts";
import { hoursOfDays, type UsageQuery } from "../../../../src/core/usage/reports/report.ts";
import type { UsageReports, UsageStore } from "../../../../src/core/usage/reports/usage-store.ts";
import type { CreateStore } from "../create-store.ts";
import { openUsageOf, usageOf } from "../samples.ts";

const DAY_MS = 86_400_000;
const EVERY_DAY: UsageQuery = {
  groups: ["day"],
  ...hoursOfDays(0, 10),
  accountId: null,
  userId: null,
  keyId: null,
};

/** The contract of a `UsageStore` with its reports. */
export function testUsageStore(createStore: CreateStore<UsageStore & UsageReports>): void {
  describe("a usage store", () => {
    testRecords(createStore);
    testQuarantine(createStore);
    testReports(createStore);
  });
}

function testRecords(createStore: CreateStore<UsageStore>): void {
  test("replaces an open record by a later version, and never one that has ended", async () => {
    const store = await createStore();
    await store.saveUsage([openUsageOf("gen_1")]);
    await store.saveUsage([openUsageOf("gen_1", { provider: "second" })]);
    expect((await store.findUsage("gen_1"))?.provider).toBe("second");
    await store.saveUsage([usageOf("gen_1")]);
    await store.saveUsage([openUsageOf("gen_1"), usageOf("gen_1", { outcome: "interrupted" })]);
    expect(await store.findUsage("gen_1")).toEqual(usageOf("gen_1").record);
    expect(await store.findUsage("gen_2")).toBeNull();
  });

  test("finds the records that are open", async () => {
    const store = await createStore();
    await store.saveUsage([openUsageOf("gen_1"), openUsageOf("gen_2"), usageOf("gen_3")]);
    await store.saveUsage([usageOf("gen_2")]);
    expect((await store.findOpenUsage()).map(({ id }) => id)).toEqual(["gen_1"]);
  });

  test("finds abandoned records: without a lease, left by the gateway itself, or with a lease that has ended", async () => {
    const store = await createStore();
    const leased = (id: string, gatewayId: string, endsAt: number) =>
      openUsageOf(id, { lease: { gatewayId, endsAt } });
    await store.saveUsage([
      openUsageOf("gen_1"),
      leased("gen_2", "gateway_a", 9_000),
      leased("gen_3", "gateway_b", 5_000),
      leased("gen_4", "gateway_b", 5_001),
      leased("gen_5", "gateway_b", 4_000),
    ]);
    await store.saveUsage([usageOf("gen_5")]);
    const abandoned = await store.findAbandonedUsage("gateway_a", 5_000);
    expect(abandoned.map(({ id }) => id).sort()).toEqual(["gen_1", "gen_2", "gen_3"]);
  });

  test("saves none of a group of records when it rejects one for its content", async () => {
    const store = await createStore();
    const unacceptable = usageOf("gen_2", { outcome: "unheard of" as UsageRecord["outcome"] });
    const saving = store.saveUsage([usageOf("gen_1"), unacceptable]);
    expect(await saving.catch((error) => error)).toBeInstanceOf(RejectedRecordError);
    expect(await store.findUsage("gen_1")).toBeNull();
  });

  test("finds the anonymous requests and the requests to free models since a time, oldest first", async () => {
    const store = await createStore();
    const anonymous = { accountId: null, keyId: null, userId: null, addressHash: "address" };
    await store.saveUsage([
      openUsageOf("gen_1", { ...anonymous, createdAt: 3_000 }),
      usageOf("gen_2", { ...anonymous, createdAt: 2_000 }),
      usageOf("gen_3", { ...anonymous, createdAt: 1_000 }),
      openUsageOf("gen_4", { createdAt: 4_000 }),
      usageOf("gen_5", { usesFreeModel: true, createdAt: 5_000 }),
      usageOf("gen_6", { usesFreeModel: true, createdAt: 1_000 }),
    ]);
    await store.saveUsage([usageOf("gen_4", { usesFreeModel: true, createdAt: 4_000 })]);
    expect(await store.findAnonymousSince(1_000)).toEqual([
      { addressHash: "address", createdAt: 2_000 },
      { addressHash: "address", createdAt: 3_000 },
    ]);
    expect(await store.findFreeSince(1_000)).toEqual([
      { accountId: "user_a", createdAt: 4_000 },
      { accountId: "user_a", createdAt: 5_000 },
    ]);
  });
}

function testQuarantine(createStore: CreateStore<UsageStore>): void {
  test("keeps a quarantined record in place of its open version, with the reason and the cost", async () => {
    const store = await createStore();
    await store.saveUsage([openUsageOf("gen_1")]);
    await store.quarantineUsage(usageOf("gen_1", { costNanodollars: 7 }), "too large", 5_000);
    expect(await store.findUsage("gen_1")).toBeNull();
    expect(await store.findOpenUsage()).toEqual([]);
    expect(await store.listQuarantined(9)).toEqual([
      { id: "gen_1", reason: "too large", costNanodollars: 7 },
    ]);
  });

  test("lists quarantined records oldest first, and a cost that is no amount as 0", async () => {
    const store = await createStore();
    await store.quarantineUsage(usageOf("gen_1", { costNanodollars: Number.NaN }), "no amount", 6_000);
    await store.quarantineUsage(usageOf("gen_2"), "too large", 5_000);
    await store.quarantineUsage(usageOf("gen_3"), "too large", 7_000);
    const listed = await store.listQuarantined(2);
    expect(listed.map(({ id, costNanodollars }) => [id, costNanodollars])).toEqual([
      ["gen_2", 30],
      ["gen_1", 0],
    ]);
  });
}

function testReports(createStore: CreateStore<UsageStore & UsageReports>): void {
  test("counts each generation once in the sums of the day of its request, however often it is saved", async () => {
    const store = await createStore();
    const day = { createdAt: DAY_MS, finishedAt: DAY_MS + 1_000 };
    await store.saveUsage([openUsageOf("gen_1", day)]);
    expect(await store.sumUsage(EVERY_DAY)).toEqual([]);
    await store.saveUsage([
      usageOf("gen_1", day),
      usageOf("gen_2", { ...day, outcome: "failed", costNanodollars: 0 }),
    ]);
    await store.saveUsage([usageOf("gen_1", day), usageOf("gen_1", { ...day, outcome: "interrupted" })]);
    await store.saveUsage([usageOf("gen_3", { createdAt: 2 * DAY_MS, finishedAt: 3 * DAY_MS + 1 })]);
    expect(await store.sumUsage(EVERY_DAY)).toMatchObject([
      { groups: ["1970-01-02"], requests: 2, errors: 1, promptTokens: 20, cost: 30 },
      { groups: ["1970-01-03"], requests: 1, errors: 0, promptTokens: 10, cost: 30 },
    ]);
    expect(await store.sumUsage({ ...EVERY_DAY, ...hoursOfDays(0, 1) })).toHaveLength(1);
  });

  test("sums only the usage of the account, user or key that is asked for", async () => {
    const store = await createStore();
    await store.saveUsage([
      usageOf("gen_1"),
      usageOf("gen_2", { accountId: "org_a", costNanodollars: 5 }),
      usageOf("gen_3", { accountId: "org_a", userId: "user_b", keyId: "key_b", costNanodollars: 7 }),
    ]);
    const costs = async (query: Partial<UsageQuery>) =>
      (await store.sumUsage({ ...EVERY_DAY, ...query })).map(({ groups, cost }) => [...groups, cost]);
    expect(await costs({ groups: ["account"] })).toEqual([
      ["user_a", 30],
      ["org_a", 12],
    ]);
    expect(await costs({ groups: ["user"], accountId: "org_a" })).toEqual([
      ["user_b", 7],
      ["user_a", 5],
    ]);
    expect(await costs({ groups: ["key"], userId: "user_a" })).toEqual([["key_a", 35]]);
    expect(await costs({ groups: ["model"], keyId: "key_b" })).toEqual([["author/model", 7]]);
  });

  test("sums by several dimensions, with days in order", async () => {
    const store = await createStore();
    const day = (n: number) => ({ createdAt: n * DAY_MS });
    await store.saveUsage([
      usageOf("gen_1", { ...day(2), model: "author/b" }),
      usageOf("gen_2", { ...day(2), model: "author/a", costNanodollars: 50 }),
      usageOf("gen_3", { ...day(1), model: "author/b" }),
      usageOf("gen_4", { ...day(1), model: "author/b", provider: "other", userId: null }),
    ]);
    const lines = async (query: Partial<UsageQuery>) =>
      (await store.sumUsage({ ...EVERY_DAY, ...query })).map(({ groups, cost }) => [...groups, cost]);
    expect(await lines({ groups: ["day", "model"] })).toEqual([
      ["1970-01-02", "author/b", 60],
      ["1970-01-03", "author/a", 50],
      ["1970-01-03", "author/b", 30],
    ]);
    expect(await lines({ groups: ["model", "day"], provider: "provider" })).toEqual([
      ["author/a", "1970-01-03", 50],
      ["author/b", "1970-01-02", 30],
      ["author/b", "1970-01-03", 30],
    ]);
    expect(await lines({ groups: ["provider", "user"], model: "author/b" })).toEqual([
      ["provider", "user_a", 60],
      ["other", null, 30],
    ]);
    expect(await lines({ groups: ["day", "provider", "model"], model: "author/b" })).toEqual([
      ["1970-01-02", "other", "author/b", 30],
      ["1970-01-02", "provider", "author/b", 30],
      ["1970-01-03", "provider", "author/b", 30],
    ]);
  });

  test("counts the usage of a consulted model under that model, and its request once", async () => {
    const store = await createStore();
    const advisor = {
      model: "advisor",
      modelId: "author/advisor",
      prices: null,
      promptTokens: 4,
      completionTokens: 2,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      costNanodollars: 10,
      upstreamCostNanodollars: 10,
    };
    await store.saveUsage([usageOf("gen_1", { advisors: [advisor] } as Partial<UsageRecord>)]);
    expect(await store.sumUsage({ ...EVERY_DAY, groups: ["model"] })).toMatchObject([
      { groups: ["author/model"], requests: 1, promptTokens: 10, cost: 20 },
      { groups: ["author/advisor"], requests: 0, promptTokens: 4, cost: 10 },
    ]);
  });

  test("saves and sums a record of an earlier version that lacks a counter", async () => {
    const store = await createStore();
    const { provider: _, cachedTokens: __, model: ___, ...fields } = usageOf("gen_1").record;
    const record = fields as UsageRecord;
    await store.saveUsage([{ record, json: JSON.stringify(record) }]);
    const sums = await store.sumUsage({ ...EVERY_DAY, groups: ["provider"] });
    expect(sums).toMatchObject([{ groups: [null], cachedTokens: 0 }]);
  });
}
