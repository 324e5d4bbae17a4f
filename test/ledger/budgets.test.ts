import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS, SECOND_MS } from "../../src/base/time/time.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { RUNS_SLOW_TESTS } from "../support/long-run.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { documentOf, healthy, startVendor, type Vendor, type VendorCall } from "../support/vendors/vendor.ts";

/** The cost of the vendor's usage, 10 and 5 tokens, at the prices below. Dollars. */
const COST = 0.00006;
/** Twenty requests cost so much; each holds more than it costs. Dollars. */
const LIMIT = 0.0012;
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

interface Sent {
  readonly user?: string;
  readonly tags?: readonly string[];
}

describe.each(databases)("budgets on $name", ({ name, isAbsent, environment }) => {
  let gateway: TestGateway;
  let clock: TestClock;
  let variables: Readonly<Record<string, string>>;

  async function start(time = "2027-01-27T12:00:00Z"): Promise<void> {
    clock = createTestClock(Date.parse(time));
    variables = await environment();
    gateway = await startTestGateway({ clock, yaml: yaml(), environment: variables });
  }
  afterEach(async () => {
    vendor.perform(healthy("Alpha"));
    await gateway?.stop();
  });

  const manage = (method: string, path: string, body?: object) =>
    callAdmin(gateway, gateway.adminKey, method, path, body);

  async function createBudget(fields: object) {
    const { data } = await manage("POST", "/budgets", { limit: LIMIT, ...fields });
    return data as { id: string } & Readonly<Record<string, unknown>>;
  }

  async function send(key: string, fields: Sent = {}, base = gateway.base) {
    const response = await fetch(`${base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "mine/chat",
        max_tokens: 5,
        messages: [{ role: "user", content: "Hi" }],
        ...fields,
      }),
    });
    const body = (await response.json()) as {
      error?: { message: string; metadata: Record<string, unknown> };
    };
    return { status: response.status, error: body.error };
  }

  /** Sends a request again while the store counts as away, because the clock has passed a day at once. */
  async function sendWhenReady(key: string, fields: Sent) {
    return eventually("the store to be read", async () => {
      const answer = await send(key, fields);
      if (answer.status !== 503) return answer;
      clock.advance(SECOND_MS);
      return null;
    });
  }

  /** Sends requests until a budget is reached, and returns how many were answered. */
  async function spendAll(key: string, fields: Sent = {}): Promise<number> {
    for (let answers = 0; answers < 30; answers++) {
      const { status, error } = await sendWhenReady(key, fields);
      if (status === 402) return answers;
      expect([status, error?.message]).toEqual([200, undefined]);
    }
    throw new Error("the budget rejects nothing");
  }

  const status = async (key: string, fields: Sent = {}) => (await sendWhenReady(key, fields)).status;
  /** Passes a day, after which the gateway must have read its store again to accept a key. */
  async function passDay(key: string): Promise<void> {
    clock.advance(DAY_MS);
    const headers = { authorization: `Bearer ${key}` };
    await eventually("the store to be read", async () => {
      clock.advance(SECOND_MS);
      return (await fetch(`${gateway.base}/key`, { headers })).ok;
    });
  }

  let account_id: string;
  /** Creates an account without a bound and returns the secret of its key. */
  async function newAccount(): Promise<string> {
    account_id = (await manage("POST", "/users", { name: "Ada", overdraft: null })).data.id;
    const { body } = await manage("POST", "/keys", { name: "k", account_id, user_id: account_id });
    return String(body["key"]);
  }

  test.skipIf(isAbsent)(
    "a budget of an account rejects requests with its name, and says what is spent",
    async () => {
      await start();
      const key = await newAccount();
      const budget = await createBudget({ account_id, period: "day", name: "Small" });
      expect(budget).toMatchObject({ spent: 0, remaining: LIMIT, state: "ok", set_by: "operator" });
      const answers = await spendAll(key);
      expect(answers).toBeGreaterThanOrEqual(2);
      const { error } = await send(key);
      expect(error?.metadata).toMatchObject({ limit_source: "budget", budget: budget.id });
      expect(error?.message).toContain('the budget "Small"');
      const { data } = await manage("GET", `/budgets/${budget.id}`);
      expect(data["spent"]).toBeCloseTo(answers * COST, 9);
      expect(data["resets_at"]).toBe("2027-01-28T00:00:00.000Z");
      await passDay(key);
      expect(await spendAll(key)).toBe(answers);
    },
  );

  test.skipIf(isAbsent)("a budget includes what was spent in its period before it was set", async () => {
    await start();
    const key = await newAccount();
    for (let count = 0; count < 20; count++) expect(await status(key)).toBe(200);
    const budget = await createBudget({ account_id, period: "week" });
    expect(budget["spent"]).toBeCloseTo(20 * COST, 9);
    expect(await status(key)).toBe(402);
    await manage("PATCH", `/budgets/${budget.id}`, { limit: 1 });
    expect(await status(key)).toBe(200);
    const { data } = await manage("PATCH", `/budgets/${budget.id}`, { limit: LIMIT / 2 });
    expect(data).toMatchObject({ limit: LIMIT / 2, remaining: 0, state: "reached" });
    await manage("DELETE", `/budgets/${budget.id}`);
    expect(await status(key)).toBe(200);
  });

  test.skipIf(isAbsent)(
    "a generation that runs when a budget is set counts for it when it ends",
    async () => {
      await start();
      const key = await newAccount();
      vendor.perform(async (call: VendorCall) => {
        await call.gate();
        await call.respond(200, documentOf("Alpha"));
      });
      const running = status(key);
      const call = await vendor.call(vendor.calls.length);
      await call.atGate;
      vendor.perform(healthy("Alpha"));
      const { id } = await createBudget({ account_id });
      expect(await status(key)).toBe(200);
      call.openGate();
      expect(await running).toBe(200);
      const { data } = await manage("GET", `/budgets/${id}`);
      expect(data["spent"]).toBeCloseTo(2 * COST, 9);
      expect(await spendAll(key)).toBeLessThan(LIMIT / COST - 2);
    },
  );

  test.skipIf(isAbsent)("a budget of a key bounds this key alone", async () => {
    await start();
    const { body, data } = await manage("POST", "/keys", { name: "k" });
    const other = await manage("POST", "/keys", { name: "other" });
    await createBudget({ key_id: data.id });
    await spendAll(String(body["key"]));
    expect(await status(String(other.body["key"]))).toBe(200);
  });

  /** Creates an organization without a bound, with a team. Returns the team's id, two of its keys, and one of the organization alone. */
  async function newTeam() {
    account_id = (await manage("POST", "/organizations", { name: "Acme", overdraft: null })).data.id;
    const team_id = (await manage("POST", `/organizations/${account_id}/teams`, { name: "Search" })).data.id;
    const make = async (more: object) => {
      const { body, data } = await manage("POST", "/keys", { name: "k", account_id, ...more });
      return { id: data.id, secret: String(body["key"]) };
    };
    return { team_id, keys: [await make({ team_id }), await make({ team_id })], outside: await make({}) };
  }
  const rotate = async (id: string | undefined) =>
    String((await manage("POST", `/keys/${id}/rotate`, {})).body["key"]);

  test.skipIf(isAbsent)(
    "a budget of a team counts its keys together, also before it was set, after a rotation and after a restart",
    async () => {
      await start();
      const { team_id, keys, outside } = await newTeam();
      const [first, second] = keys.map(({ secret }) => secret) as [string, string];
      for (const key of [first, second, first, outside.secret]) expect(await status(key)).toBe(200);
      const budget = await createBudget({ account_id, team_id, period: "week" });
      expect(budget["spent"]).toBeCloseTo(3 * COST, 9);
      const rotated = await rotate(keys[0]?.id);
      let answers = 3;
      for (const key of [first, rotated, second]) {
        expect(await status(key)).toBe(200);
        answers += 1;
      }
      answers += await spendAll(rotated);
      for (const key of [first, second]) {
        const { error, ...rejected } = await send(key);
        expect(rejected.status).toBe(402);
        expect(error?.metadata).toMatchObject({ limit_source: "budget", budget: budget.id });
        expect(error?.message).toContain('the budget "Search by week" of the team "Search"');
      }
      expect(await status(outside.secret)).toBe(200);
      await gateway.stop({ keepData: true });
      const { dataDir, key: own } = gateway;
      gateway = await startTestGateway({ clock, yaml: yaml(), environment: variables, dataDir, key: own });
      for (const key of [rotated, second]) expect(await status(key)).toBe(402);
      expect(await status(outside.secret)).toBe(200);
      const { data } = await manage("GET", `/budgets/${budget.id}`);
      expect(data["spent"]).toBeCloseTo(answers * COST, 9);
      const report = await manage("GET", `/usage?group_by=team&team_id=${team_id}`);
      expect(report.rows.map(({ cost }) => cost)).toEqual([data["spent"]]);
    },
  );

  test.skipIf(isAbsent)("a rolling budget counts the current day and the days before it", async () => {
    await start();
    const key = await newAccount();
    await createBudget({ account_id, period: "rolling", days: 2 });
    const answers = await spendAll(key);
    await passDay(key);
    expect(await status(key)).toBe(402);
    await passDay(key);
    expect(await spendAll(key)).toBe(answers);
  });

  test.skipIf(isAbsent)(
    "each end user has a budget for itself, which the record names by a hash",
    async () => {
      await start();
      const key = await newAccount();
      const budget = await createBudget({ account_id, end_user: "*" });
      const answers = await spendAll(key, { user: "ada" });
      expect(await status(key, { user: "ada" })).toBe(402);
      expect(await status(key, { user: "bob" })).toBe(200);
      expect(await status(key)).toBe(200);
      const { data } = await manage("GET", `/budgets/${budget.id}`);
      expect(data["spent"]).toBeNull();
      const top = data["top"] as { value: string; spent: number }[];
      expect(top.map(({ spent }) => Math.round(spent / COST))).toEqual([answers, 1]);
      expect(JSON.stringify(top)).not.toContain("ada");
    },
  );

  test.skipIf(isAbsent)("budgets of one end user and of one tag bound only their requests", async () => {
    await start();
    const key = await newAccount();
    await createBudget({ account_id, end_user: "ada" });
    await createBudget({ account_id, tag: "batch" });
    await spendAll(key, { user: "ada" });
    await spendAll(key, { tags: ["other", "batch"] });
    expect(await status(key, { user: "bob", tags: ["other"] })).toBe(200);
  });

  test.skipIf(isAbsent)("a request with two tags counts for the budget of each", async () => {
    await start();
    const key = await newAccount();
    await createBudget({ account_id, tag: "*" });
    await spendAll(key, { tags: ["a", "b"] });
    expect(await status(key, { tags: ["a"] })).toBe(402);
    expect(await status(key, { tags: ["b", "c"] })).toBe(402);
    expect(await status(key, { tags: ["c"] })).toBe(200);
  });

  test.skipIf(isAbsent)("a budget that only warns rejects nothing", async () => {
    await start();
    const key = await newAccount();
    await createBudget({ account_id, action: "warn" });
    for (let count = 0; count < 22; count++) expect(await status(key)).toBe(200);
  });

  test.skipIf(isAbsent)("what a budget has counted survives a restart", async () => {
    await start();
    const key = await newAccount();
    const { id } = await createBudget({ account_id });
    const answers = await spendAll(key);
    await gateway.stop({ keepData: true });
    const { dataDir, key: own } = gateway;
    gateway = await startTestGateway({ clock, yaml: yaml(), environment: variables, dataDir, key: own });
    expect(await status(key)).toBe(402);
    expect((await manage("GET", `/budgets/${id}`)).data["spent"]).toBeCloseTo(answers * COST, 9);
  });

  /** Starts a gateway on the database of the first one. Holds wait for other gateways by the clock, so both have the real one. */
  const startOther = () => startTestGateway({ yaml: yaml(), environment: variables, key: gateway.key });

  test.skipIf(isAbsent || name === "SQLite")(
    "two gateways together spend no more than a budget allows",
    async () => {
      variables = await environment();
      gateway = await startTestGateway({ yaml: yaml(), environment: variables });
      const key = await newAccount();
      const { id } = await createBudget({ account_id, limit: 3 * LIMIT, period: "total" });
      const other = await startOther();
      const statuses: number[] = [];
      try {
        for (let round = 0; round < 24; round++) {
          const both = [gateway.base, other.base, gateway.base, other.base];
          statuses.push(...(await Promise.all(both.map(async (base) => (await send(key, {}, base)).status))));
        }
      } finally {
        // Saves what it has spent.
        await other.stop();
      }
      expect(new Set(statuses)).toEqual(new Set([200, 402]));
      const { data } = await manage("GET", `/budgets/${id}`);
      expect(data["spent"]).toBeCloseTo(statuses.filter((status) => status === 200).length * COST, 9);
      expect(data["spent"]).toBeLessThanOrEqual(3 * LIMIT);
    },
  );

  test.skipIf(isAbsent || name === "SQLite")(
    "two gateways together spend no more than the budget of a team allows, also after one restarts and a key is rotated",
    async () => {
      variables = await environment();
      gateway = await startTestGateway({ yaml: yaml(), environment: variables });
      const { team_id, keys, outside } = await newTeam();
      let secrets = keys.map(({ secret }) => secret);
      const statuses: number[] = [];
      for (const key of secrets) statuses.push(await status(key));
      const { id, spent } = await createBudget({ account_id, team_id, limit: 3 * LIMIT, period: "total" });
      expect(spent).toBeCloseTo(2 * COST, 9);
      let other = await startOther();
      const spendOnBoth = async (rounds: number) => {
        for (let round = 0; round < rounds; round++) {
          const sent = [gateway, other].flatMap(({ base }) =>
            secrets.map(async (key) => (await send(key, {}, base)).status),
          );
          statuses.push(...(await Promise.all(sent)));
        }
      };
      try {
        await spendOnBoth(4);
        const rotated = await callAdmin(other, other.adminKey, "POST", `/keys/${keys[0]?.id}/rotate`, {});
        secrets = [...secrets, String(rotated.body["key"])];
        await eventually("the first gateway to know the new secret", async () => {
          const { status } = await send(secrets[2] as string);
          if (status !== 401) statuses.push(status);
          return status !== 401;
        });
        await spendOnBoth(3);
        await other.stop();
        other = await startOther();
        await spendOnBoth(12);
        expect((await send(outside.secret, {}, other.base)).status).toBe(200);
      } finally {
        await other.stop();
      }
      expect(new Set(statuses)).toEqual(new Set([200, 402]));
      const { data } = await manage("GET", `/budgets/${id}`);
      expect(data["spent"]).toBeCloseTo(statuses.filter((status) => status === 200).length * COST, 9);
      expect(data["spent"]).toBeLessThanOrEqual(3 * LIMIT);
    },
  );
});
