import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { configSchema } from "../../src/app/config/config-schema.ts";
import { openStores } from "../../src/app/stores/open-stores.ts";
import type { Stores } from "../../src/app/stores/stores.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { createKey } from "../../src/core/accounts/manage/manage-keys.ts";
import type { Postgres } from "../../src/storage/postgres/connection/client.ts";
import { accountOf } from "../storage/contracts/samples.ts";
import { openTestPostgres } from "../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { manage } from "../support/money.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

/** The cost of the vendor's usage, 10 and 5 tokens, at the prices below. Nanodollars. */
const COST = 10 * 1_000 + 5 * 10_000;
const MODEL = "mine/chat";
const GATEWAYS = 2;
/** Failures of the start of a server are no failures of the test. */
const START_MS = 60_000;

const yamlFor = (vendorUrl: string) => `
limits: { attempts: 1, hold_tokens: 5 }
providers:
  mine:
    base_url: ${vendorUrl}
    api_keys: [vendor-key]
    models: [{ id: ${MODEL}, prices: { prompt: "0.000001", completion: "0.00001" } }]
`;

describe.skipIf(POSTGRES_BIN === null)("two gateways on one database", () => {
  let server: TestPostgres;
  let vendor: Vendor;
  let stores: Stores;
  let dir: string;
  let url: string;
  let database: Postgres;
  const gateways: TestGateway[] = [];
  let made = 0;

  beforeAll(async () => {
    server = await startTestPostgres();
    vendor = startVendor();
    dir = makeTempFolder("gateway-test-");
    url = await server.createDatabase();
    for (let index = 0; index < GATEWAYS; index++) gateways.push(await startGateway());
    database = openTestPostgres(url, 2);
    const config = configSchema.parse({ data_dir: dir, database: { url } });
    stores = await openStores(config, { clock: systemClock, random: createSystemRandom() });
  }, START_MS);
  afterAll(async () => {
    await stores?.close();
    await database?.close();
    for (const gateway of gateways) await gateway.stop();
    vendor?.stop();
    rmSync(dir, { recursive: true, force: true });
    await server?.remove();
  }, START_MS);
  beforeEach(() => {
    made += 1;
    vendor.perform(healthy("Alpha"));
  });

  function startGateway(): Promise<TestGateway> {
    return startTestGateway({
      yaml: yamlFor(vendor.baseUrl),
      environment: { DATABASE_URL: url, GATEWAY_SECRETS_KEY: "a1".repeat(32) },
      key: "unused",
    });
  }

  /** Adds an account with money for about so many requests, and returns its id and a key. */
  async function addAccount(requests: number, spendLimit: number | null = null) {
    const id = `user_shared${made}`;
    await stores.accounts.insertAccount(accountOf(id));
    const { secret } = await createKey(stores, {
      name: "k",
      kind: "inference",
      expiresAt: null,
      accountId: id,
      spendLimit,
    });
    const dollars = ((requests * COST) / 1_000_000_000).toFixed(9);
    await manage(gateways[0] as TestGateway, `/accounts/${id}/credits`, { amount: dollars });
    return { id, key: secret };
  }

  function chat(gateway: TestGateway, key: string): Promise<Response> {
    return fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: MODEL, max_tokens: 5, messages: [{ role: "user", content: "Hello!" }] }),
    });
  }

  /** Sends requests to both gateways at once, until each of them has rejected one, and returns the number of answers. */
  async function spendAll(key: string): Promise<number> {
    const spend = async (gateway: TestGateway): Promise<number> => {
      for (let answers = 0; ; answers++) {
        const response = await chat(gateway, key);
        await response.text();
        if (response.status === 402) return answers;
        expect(response.status).toBe(200);
      }
    };
    const answers = await Promise.all(
      gateways.flatMap((gateway) => [spend(gateway), spend(gateway), spend(gateway)]),
    );
    return answers.reduce((sum, count) => sum + count, 0);
  }

  /** Returns what the database has of an account once all records are saved, in nanodollars. */
  async function readBalance(id: string, answers: number) {
    const spent = answers * COST;
    return eventually("all records are saved", async () => {
      const { usage } = await stores.ledger.sumTransfers(id);
      return usage === -spent ? (await stores.ledger.findBalance(id)).balance : null;
    });
  }

  test(
    "never overdraw an account, and spend its balance to the end",
    async () => {
      const { id, key } = await addAccount(40);
      const answers = await spendAll(key);
      const balance = await readBalance(id, answers);
      expect(balance).toBeGreaterThanOrEqual(0);
      const required = await refusedFor(key);
      expect(balance).toBeLessThan(required);
    },
    START_MS,
  );

  test(
    "hold a key's spending limit together",
    async () => {
      const { id, key } = await addAccount(1_000, 1_200_000);
      const answers = await spendAll(key);
      const spent = answers * COST;
      await readBalance(id, answers);
      expect(spent).toBeLessThanOrEqual(1_200_000);
      expect(spent).toBeGreaterThan(1_200_000 - (await refusedFor(key)));
    },
    START_MS,
  );

  test(
    "spend credits that were added at one gateway at the other one at once",
    async () => {
      const { id, key } = await addAccount(0.5);
      const [first, second] = gateways as [TestGateway, TestGateway];
      expect((await chat(second, key)).status).toBe(402);
      await manage(first, `/accounts/${id}/credits`, { amount: "1" });
      expect((await chat(second, key)).status).toBe(200);
    },
    START_MS,
  );

  test(
    "spend what the other gateway has leased and does not need",
    async () => {
      const { key } = await addAccount(20);
      const [first, second] = gateways as [TestGateway, TestGateway];
      for (let index = 0; index < 10; index++) expect((await chat(first, key)).status).toBe(200);
      // What is left covers one more hold, and the first gateway has leased a part of it.
      expect((await chat(second, key)).status).toBe(200);
    },
    START_MS,
  );

  test(
    "leave no lease behind when one of them stops, and what is leased is the sum of all leases",
    async () => {
      const { id, key } = await addAccount(1_000);
      const third = await startGateway();
      expect((await chat(third, key)).status).toBe(200);
      const [before] = await readLeased(id);
      expect(before).toMatchObject({ gateways: "1" });
      await third.stop();
      expect(await readLeased(id)).toEqual([{ leased: "0", gateways: "0" }]);
      const wrong = await database.run(
        `SELECT account_id FROM balances b WHERE leased <>
           (SELECT coalesce(sum(amount), 0) FROM balance_leases l WHERE l.account_id = b.account_id)
         UNION ALL SELECT meter FROM spending s WHERE leased <>
           (SELECT coalesce(sum(amount), 0) FROM spending_leases l WHERE (l.meter, l.since) = (s.meter, s.since))`,
      );
      expect([...wrong]).toEqual([]);
    },
    START_MS,
  );

  /** Returns what is leased of an account, and by how many gateways. */
  async function readLeased(id: string): Promise<object[]> {
    const rows = await database.run<{ leased: string; gateways: string }>(
      `SELECT leased, (SELECT count(*) FROM balance_leases l WHERE l.account_id = b.account_id) AS gateways
       FROM balances b WHERE account_id = $1`,
      [id],
    );
    return rows.map(({ leased, gateways }) => ({ leased, gateways }));
  }

  /** Returns what a request needs, as its rejection names it. Nanodollars. */
  async function refusedFor(key: string): Promise<number> {
    const response = await chat(gateways[0] as TestGateway, key);
    expect(response.status).toBe(402);
    const { error } = (await response.json()) as { error: { metadata: { required: number } } };
    return Math.round(error.metadata.required * 1_000_000_000);
  }
});
