import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { RUNS_SLOW_TESTS } from "../support/long-run.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

/** The cost of the vendor's usage, 10 and 5 tokens, at the prices below. Dollars. */
const COST = 0.00006;
/** Ten requests cost so much. Dollars. */
const LIMIT = 0.0006;
const SECOND_MS = 1_000;
const START_MS = 60_000;

let vendor: Vendor;
let server: TestPostgres | null = null;

beforeAll(async () => {
  vendor = startVendor(healthy("Alpha"));
  if (RUNS_ON_POSTGRES) server = await startTestPostgres();
}, START_MS);
afterAll(async () => {
  vendor.stop();
  await server?.remove();
});

const yaml = () => `
limits: { attempts: 1, hold_tokens: 5 }
providers:
  mine:
    base_url: ${vendor.baseUrl}
    api_keys: [vendor-key]
    models: [{ id: mine/chat, prices: { prompt: "0.000001", completion: "0.00001" } }]
`;

/** `npm test` leaves it to `npm run suite -- postgres`. */
const RUNS_ON_POSTGRES = RUNS_SLOW_TESTS && POSTGRES_BIN !== null;

const databases = [
  { name: "SQLite", isAbsent: false, environment: async () => ({}) },
  {
    name: "PostgreSQL",
    isAbsent: !RUNS_ON_POSTGRES,
    environment: async () => ({
      DATABASE_URL: (await server?.createDatabase()) ?? "",
      GATEWAY_SECRETS_KEY: "a1".repeat(32),
    }),
  },
];

describe.each(databases)("spending limits of keys by period on $name", ({ isAbsent, environment }) => {
  let gateway: TestGateway;
  let clock: TestClock;
  afterEach(() => gateway?.stop());

  async function start(time: string): Promise<void> {
    clock = createTestClock(Date.parse(time));
    gateway = await startTestGateway({ clock, yaml: yaml(), environment: await environment() });
  }

  async function createKey(settings: Readonly<Record<string, unknown>>) {
    const { body, data } = await callAdmin(gateway, gateway.adminKey, "POST", "/keys", {
      name: "k",
      ...settings,
    });
    return { id: data.id, secret: String(body["key"]) };
  }

  async function chat(key: string): Promise<number> {
    const response = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "mine/chat",
        max_tokens: 5,
        messages: [{ role: "user", content: "Hi" }],
      }),
    });
    await response.text();
    return response.status;
  }

  async function readLimit(key: string) {
    const response = await fetch(`${gateway.base}/key`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = (await response.json()) as { data: Record<string, unknown> };
    return { left: data["limit_remaining"], resets: data["limit_resets_at"], period: data["limit_period"] };
  }

  /** Sends requests until the limit is reached, and returns how many were answered. */
  async function spendAll(key: string): Promise<number> {
    for (let answers = 0; ; answers++) {
      const status = await chat(key);
      if (status === 402) return answers;
      expect(status).toBe(200);
    }
  }

  // 2027-01-31 is a Sunday and the last day of its month, 2027-01-30 neither the last day of a week nor of a month.
  const ends = [
    { period: "day", before: "2027-01-29T23:59:59Z", resets: "2027-01-30T00:00:00.000Z" },
    { period: "week", before: "2027-01-24T23:59:59Z", resets: "2027-01-25T00:00:00.000Z" },
    { period: "month", before: "2027-02-28T23:59:59Z", resets: "2027-03-01T00:00:00.000Z" },
  ];

  test.skipIf(isAbsent).each(ends)(
    "a limit by $period is reached, and applies anew from $resets",
    async ({ period, before, resets }) => {
      await start(before);
      const { secret } = await createKey({ spend_limit: LIMIT, spend_limit_period: period });
      expect(await readLimit(secret)).toEqual({ left: LIMIT, resets, period });
      const answers = await spendAll(secret);
      expect(answers).toBeGreaterThanOrEqual(1);
      expect((await readLimit(secret)).left).toBeCloseTo(LIMIT - answers * COST, 9);
      clock.advance(SECOND_MS);
      expect((await readLimit(secret)).left).toBe(LIMIT);
      expect(await spendAll(secret)).toBe(answers);
    },
  );

  test.skipIf(isAbsent)("a limit by week goes on when a month begins", async () => {
    await start("2027-04-30T23:59:59Z");
    const week = await createKey({ spend_limit: LIMIT, spend_limit_period: "week" });
    await spendAll(week.secret);
    clock.advance(SECOND_MS);
    expect(await chat(week.secret)).toBe(402);
  });

  test.skipIf(isAbsent)("a limit by month goes on when a week begins", async () => {
    await start("2027-01-24T23:59:59Z");
    const { secret } = await createKey({ spend_limit: LIMIT, spend_limit_period: "month" });
    await spendAll(secret);
    clock.advance(SECOND_MS);
    expect(await chat(secret)).toBe(402);
  });

  test.skipIf(isAbsent)(
    "a limit counts what the key has spent in its period before the limit was set",
    async () => {
      await start("2027-01-29T23:59:59Z");
      const { id, secret } = await createKey({});
      for (let count = 0; count < 10; count++) expect(await chat(secret)).toBe(200);
      const change = { spend_limit: LIMIT, spend_limit_period: "day" };
      const { data } = await callAdmin(gateway, gateway.adminKey, "PATCH", `/keys/${id}`, change);
      expect(data).toMatchObject(change);
      expect(await chat(secret)).toBe(402);
      clock.advance(SECOND_MS);
      expect(await chat(secret)).toBe(200);
      const total = { spend_limit: LIMIT, spend_limit_period: "total" };
      await callAdmin(gateway, gateway.adminKey, "PATCH", `/keys/${id}`, total);
      expect(await chat(secret)).toBe(402);
      expect(await readLimit(secret)).toEqual({ left: 0, resets: null, period: "total" });
    },
  );
});
