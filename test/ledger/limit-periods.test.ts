import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { DAY_MS } from "../../src/base/time/time.ts";
import type { InferencePrincipal } from "../../src/core/accounts/records/principal.ts";
import { Ledger } from "../../src/core/ledger/credits/ledger.ts";
import { MemoryHoldBook } from "../../src/core/ledger/holds/memory-hold-book.ts";
import { daysOfBudget, nameDay, periodsOf } from "../../src/core/ledger/limits/budget-limits.ts";
import type { LedgerStore, SpendQuery } from "../../src/core/ledger/records/ledger-store.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { addAccountWithKey, manage } from "../support/money.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { documentOf, healthy, startVendor, type Vendor, type VendorCall } from "../support/vendors/vendor.ts";

/** The cost of the vendor's usage, 10 and 5 tokens, at the prices below. Nanodollars. */
const COST = 10 * 1_000 + 5 * 10_000;
const MIDNIGHT = Date.parse("2027-01-31T00:00:00Z");

let vendor: Vendor;
let gateway: TestGateway;
let clock: TestClock;

const yaml = () => `
providers:
  mine:
    base_url: ${vendor.baseUrl}
    api_keys: [vendor-key]
    models: [{ id: mine/chat, prices: { prompt: "0.000001", completion: "0.00001" } }]
`;

beforeAll(async () => {
  vendor = startVendor();
  clock = createTestClock(MIDNIGHT - 1_000);
  gateway = await startTestGateway({ yaml: yaml(), clock });
});
beforeEach(() => vendor.perform(healthy("Alpha")));
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

/** Asks until the gateway serves: one of a shared database whose clock jumped has to join it again. */
async function chat(key: string): Promise<{ status: number; required: number }> {
  const response = await eventually("the gateway serves", async () => {
    const answered = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "mine/chat",
        max_tokens: 10,
        messages: [{ role: "user", content: "Hello!" }],
      }),
    });
    return answered.status === 503 ? null : answered;
  });
  const body = (await response.json()) as { error?: { metadata: { required: number } } };
  return { status: response.status, required: Math.round((body.error?.metadata.required ?? 0) * 1e9) };
}

/** Returns a limit that covers one request, but not a second one. */
async function limitForOne(): Promise<number> {
  const { required } = await chat(await addAccountWithKey(gateway, { id: `user_probe${clock.now()}` }));
  return required + COST / 2;
}

async function keepWaiting(call: VendorCall): Promise<void> {
  await call.gate();
  await call.respond(200, documentOf("Alpha"));
}

test("an answer that ends after midnight counts for the day on which its request arrived, also after a restart", async () => {
  const dailyLimit = await limitForOne();
  const organization = { id: "org_night", kind: "organization", overdraft: null } as const;
  const member = { userId: "user_night", dailyLimit };
  const key = await addAccountWithKey(gateway, organization, { userId: "user_night" }, member);
  vendor.perform(keepWaiting);
  const crossing = chat(key);
  const call = await vendor.call(0);
  await call.atGate;
  clock.advance(2_000);
  call.openGate();
  expect((await crossing).status).toBe(200);

  await gateway.stop({ keepData: true });
  const { dataDir } = gateway;
  gateway = await startTestGateway({ yaml: yaml(), clock, dataDir, key: gateway.key });
  vendor.perform(healthy("Alpha"));
  expect((await chat(key)).status).toBe(200);
  expect((await chat(key)).status).toBe(402);
  clock.advance(1_000);
  await eventually("the report has both", async () => {
    const { body } = await manage(gateway, "/usage?group_by=day&from=2027-01-30&to=2027-01-31");
    const days = (body["data"] as Record<string, unknown>[]).map((line) => [
      line["day"],
      line["cost_nanodollars"],
    ]);
    return (
      JSON.stringify(days) ===
      JSON.stringify([
        ["2027-01-30", COST],
        ["2027-01-31", COST],
      ])
    );
  });
});

test("a limit that is set while a request runs includes that request", async () => {
  const limit = (await limitForOne()) / 1e9;
  const { data, body } = await callAdmin(gateway, gateway.adminKey, "POST", "/keys", { name: "k" });
  const key = String(body["key"]);
  vendor.perform(keepWaiting);
  const running = chat(key);
  const call = await vendor.call(0);
  await call.atGate;
  const set = await callAdmin(gateway, gateway.adminKey, "PATCH", `/keys/${data.id}`, { spend_limit: limit });
  expect(set.status).toBe(200);
  expect((await chat(key)).status).toBe(402);
  call.openGate();
  expect((await running).status).toBe(200);
  expect((await chat(key)).status).toBe(402);
});

test("a request from before midnight counts for the limit of its own day after the next day has begun", async () => {
  const spent = (query: SpendQuery): number => (query.days?.from === MIDNIGHT / 86_400_000 ? 0 : 90);
  const store = {
    listCreditChanges: async () => ({ sums: [], cursor: "0", hasMore: false }),
    findBalance: async (accountId: string) => ({ accountId, balance: 1_000, credited: 1_000, version: 1 }),
    sumSpending: async (query: SpendQuery) => spent(query),
  } as unknown as LedgerStore;
  const ledger = new Ledger({
    store,
    holdBook: new MemoryHoldBook({ store, drain: async () => {} }),
    recorder: { drain: async () => {} },
    clock: createTestClock(MIDNIGHT + 1),
    holdMs: 60_000,
  });
  const principal = {
    kind: "key",
    key: { id: "key_a", spendLimit: null, spendLimitPeriod: null },
    account: { id: "user_a", kind: "user", overdraft: 0 },
    member: { userId: "user_a", dailyLimit: 100 },
  } as unknown as Extract<InferencePrincipal, { kind: "key" }>;
  const hold = (id: string, amount: number, createdAt: number) =>
    ledger.hold(
      principal,
      { id, accountId: "user_a", keyId: "key_a", userId: "user_a", createdAt },
      { least: amount, expected: amount, most: amount },
    );

  expect(await hold("today", 60, MIDNIGHT)).toMatchObject({ kind: "held" });
  expect(await hold("yesterday", 20, MIDNIGHT - 1)).toMatchObject({
    kind: "refused",
    by: "member",
    available: 10,
  });
  expect(await hold("yesterday", 10, MIDNIGHT - 1)).toMatchObject({ kind: "held" });
  // Each day has its own meter.
  expect(await hold("late", 1, MIDNIGHT - 1)).toMatchObject({ kind: "refused" });
  ledger.settle("yesterday", 5);
  expect(await hold("late", 6, MIDNIGHT - 1)).toMatchObject({ kind: "refused", available: 5 });
  expect(await hold("today too", 40, MIDNIGHT)).toMatchObject({ kind: "held" });
});

test.each([
  ["day", "2027-03-01T23:59:58Z", "2027-03-02T00:00:00Z"],
  ["week", "2027-03-07T23:59:58Z", "2027-03-08T00:00:00Z"],
  ["month", "2027-03-31T23:59:58Z", "2027-04-01T00:00:00Z"],
])(
  "a key's limit by %s applies anew with the next one, also after a restart, and not before",
  async (period, last, next) => {
    clock.leap(Date.parse(last) - clock.now());
    const limit = (await limitForOne()) / 1e9;
    const fields = { name: period, spend_limit: limit, spend_limit_period: period };
    const { body } = await callAdmin(gateway, gateway.adminKey, "POST", "/keys", fields);
    const key = String(body["key"]);
    expect([(await chat(key)).status, (await chat(key)).status]).toEqual([200, 402]);
    await gateway.stop({ keepData: true });
    gateway = await startTestGateway({ yaml: yaml(), clock, dataDir: gateway.dataDir, key: gateway.key });
    expect((await chat(key)).status).toBe(402);
    clock.leap(Date.parse(next) - clock.now());
    expect([(await chat(key)).status, (await chat(key)).status]).toEqual([200, 402]);
  },
);

test.each([
  ["day", null],
  ["month", null],
  ["total", null],
  ["rolling", null],
  ["rolling", 1],
  ["rolling", 3],
] as const)(
  "a generation counts for exactly those periods of a budget by %s (%p days) that contain its day",
  (period, days) => {
    const budget = { period, days };
    for (let offset = -40; offset <= 40; offset++) {
      const other = MIDNIGHT + offset * DAY_MS;
      const range = daysOfBudget(budget, other);
      const periods = periodsOf(budget, MIDNIGHT);
      const day = nameDay(budget, range);
      const isCounted = periods.from <= day && day <= periods.to;
      const today = MIDNIGHT / DAY_MS;
      expect([offset, isCounted]).toEqual([offset, range.from <= today && today <= range.to]);
    }
  },
);
