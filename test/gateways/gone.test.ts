import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { configSchema } from "../../src/app/config/config-schema.ts";
import { giveUpJournal, isStillHere } from "../../src/app/several/take-over.ts";
import {
  endLostResponses,
  takeOverAll,
  takeOverRegularly,
} from "../../src/app/several/take-over-regularly.ts";
import { openStores } from "../../src/app/stores/open-stores.ts";
import type { Stores } from "../../src/app/stores/stores.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import type { RegisteredGateway } from "../../src/core/gateways/gateway-registry.ts";
import { type MasterKey, readMasterKey } from "../../src/core/provider-keys/vault.ts";
import type { ResponseObjects } from "../../src/core/response-objects/response-objects.ts";
import { checksum } from "../../src/storage/journal/checksum.ts";
import type { Postgres } from "../../src/storage/postgres/connection/client.ts";
import { postRawChat } from "../support/clients/raw-client.ts";
import { openTestPostgres } from "../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { createMemoryLog } from "../support/gateway/gateway.ts";
import {
  fetchGeneration,
  type GatewayProcess,
  makeSite,
  postChatTo,
  type Site,
} from "../support/gateway/gateway-process.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { ENDLESS, openResponses, vaultOf } from "../support/kept-responses.ts";
import { IS_LONG_RUN } from "../support/long-run.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";
import {
  chunkOf,
  healthy,
  opening,
  startVendor,
  type Vendor,
  type VendorCall,
} from "../support/vendors/vendor.ts";

const ADMIN_KEY = "management-key-of-the-test-0123456789";
const GENERATION_ID = /x-gateway-generation-id: (gen_\w+)/i;
const messages = [{ role: "user", content: "Hello!" }];
/** The cost of a complete answer of the vendor. Nanodollars. */
const COST = 20_000;
const CREDITS = 5_000_000_000;
const MASTER_KEY = "a".repeat(64);

describe.skipIf(POSTGRES_BIN === null || !IS_LONG_RUN)("a gateway of a shared database that is gone", () => {
  let server: TestPostgres;
  let vendor: Vendor;
  let url: string;
  let database: Postgres;
  let stores: Stores;
  let folder: string;
  let site: Site;
  let gateway: GatewayProcess;
  let gatewayId: string;
  let user: string;
  /** Of a user with credits, so that the gateway leases what it spends. */
  let key: string;

  beforeAll(async () => {
    server = await startTestPostgres();
    vendor = startVendor();
  });
  afterAll(async () => {
    vendor.stop();
    await server.remove();
  });
  beforeEach(async () => {
    url = await server.createMigratedDatabase();
    vendor.perform(healthy("Alpha"));
    unfinished = new Set();
    database = openTestPostgres(url, 2);
    folder = makeTempFolder("gateway-gone-");
    const config = configSchema.parse({ database: { url }, data_dir: folder });
    const platform = { clock: systemClock, databaseClock: systemClock, random: createSystemRandom() };
    stores = await openStores(config, platform);
    const vault = vaultOf(readMasterKey(MASTER_KEY) as MasterKey);
    ({ responses } = openResponses(stores, { vault, gatewayId: "gateway_other" }));
    site = makeSite(siteYaml());
    gateway = await site.start();
    gatewayId = (await findGateway()).id;
    const tools = createAccountTools({ url: gateway.url, adminKey: ADMIN_KEY });
    user = await tools.user();
    key = await tools.key(user);
    await callAdmin(gateway, ADMIN_KEY, "POST", `/accounts/${user}/credits`, { amount: CREDITS / 1e9 });
  });
  afterEach(async () => {
    await gateway.kill();
    site.remove();
    await stores.close();
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const siteYaml = (): string =>
    JSON.stringify({
      admin_key: ADMIN_KEY,
      database: { url },
      secrets: { keys: [MASTER_KEY] },
      providers: {
        vendor: {
          base_url: vendor.baseUrl,
          api_keys: ["sk-vendor-0123456789"],
          models: [{ id: "acme/model", prices: { prompt: "0.000001", completion: "0.000002" } }],
        },
      },
    });

  async function findGateway(): Promise<RegisteredGateway> {
    const [found] = await stores.gateways.list();
    if (found === undefined) throw new Error("no gateway is registered");
    return found;
  }
  /** Lets the time of the gateway be over, as thirty seconds without a renewal do. */
  async function letTimePass(): Promise<RegisteredGateway> {
    await database.run("UPDATE gateways SET ends_at = clock_timestamp()");
    return findGateway();
  }
  /** What another gateway on this machine does every ten seconds. */
  async function takeOverHere() {
    const { log, lines } = createMemoryLog();
    const parts = { stores, clock: systemClock, log, isLeader: async () => true, dataDir: folder };
    const endResponses = (live: ReadonlySet<string>) => responses.jobs.failLost(live);
    await takeOverAll({ ...parts, unfinished, endResponses });
    await endLostResponses({ ...parts, endResponses });
    return lines;
  }
  let unfinished: Set<string>;
  /** The kept responses, as another gateway with the same master key sees them. */
  let responses: ResponseObjects;

  /** Begins a background response whose vendor stops in the middle of its answer. */
  async function beginJob(): Promise<{ readonly id: string; readonly call: VendorCall }> {
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha"));
      await call.gate();
      await call.events(chunkOf({ content: " two" }));
    });
    const begun = await fetch(`${gateway.url}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "acme/model", input: "Hi", background: true }),
    });
    const { id } = (await begun.json()) as { readonly id: string };
    const call = await vendor.call(0);
    await call.atGate;
    return { id, call };
  }
  const statusOf = async (id: string) => (await stores.responses.findHead(id, Date.now()))?.status;

  test("a gateway that seemed to be gone stops making a background response that others have ended", async () => {
    const { id, call } = await beginJob();
    await eventually(
      "the first events",
      async () => (await stores.responses.readEvents(id, 0, 9)).length > 0,
    );
    gateway.suspend();
    await letTimePass();
    for (const _round of [1, 2]) await takeOverHere();
    expect(await statusOf(id)).toBe("failed");
    gateway.resume();
    call.openGate();
    await call.connection.closed;
    const record = await eventually("the charge", async () => {
      const found = await stores.usage.findUsage(id);
      return found?.outcome === "cancelled" ? found : null;
    });
    expect(record.costNanodollars).toBeGreaterThan(0);
    const response = await fetch(`${gateway.url}/v1/responses/${id}?stream=true`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const events = (await response.text()).split("\n\n").flatMap((event) => {
      const data = event.split("\ndata: ")[1];
      return data === undefined ? [] : [JSON.parse(data)];
    });
    expect(events.at(-1).type).toBe("response.failed");
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
  });

  test("leaves a background response that ends as failed at the others, is charged for what was recorded, and is not sent again", async () => {
    const { id } = await beginJob();
    await gateway.kill();
    const calls = vendor.calls.length;
    await letTimePass();
    await takeOverHere();
    // One round that misses a gateway may be too early: others renew their time once the database is back.
    expect(await statusOf(id)).toBe("in_progress");
    await takeOverHere();
    const found = await stores.responses.findObject(id, Date.now());
    expect(found).toMatchObject({ status: "failed", gatewayId: null, isBackground: true });
    const owner = { accountId: user, userId: found?.userId ?? null, keyId: found?.keyId ?? "" };
    const { content } = await responses.find({ caller: owner, id, memory: ENDLESS });
    expect(JSON.parse(content.response ?? "")).toMatchObject({
      id,
      status: "failed",
      error: { status: 503 },
    });
    const record = await stores.usage.findUsage(id);
    expect(record).toMatchObject({ outcome: "interrupted" });
    expect(await readBalance()).toMatchObject({
      leased: 0,
      amount: CREDITS - (record?.costNanodollars ?? 0),
    });
    expect(vendor.calls).toHaveLength(calls);
  });

  const readBalance = async () => {
    const [row] = await database.run<{ amount: string; leased: string }>(
      "SELECT amount, leased FROM balances WHERE account_id = $1",
      [user],
    );
    return { amount: Number(row?.amount), leased: Number(row?.leased) };
  };
  const chat = { model: "acme/model", messages };

  /** Sends a request and kills the gateway as soon as the client has the answer. Returns the generation's id. */
  async function answerAndKill(): Promise<string> {
    const response = await postChatTo({ ...gateway, key }, chat);
    await gateway.kill();
    return response.headers.get("x-gateway-generation-id") as string;
  }

  /** Begins a stream that does not end, and returns its generation's id when the client has seen its text. */
  async function beginStream(): Promise<string> {
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha"));
      await call.gate();
    });
    const client = await postRawChat({ ...gateway, key }, { ...chat, stream: true });
    await client.waitForText("Alpha");
    return GENERATION_ID.exec(client.received)?.[1] as string;
  }

  test("it goes on with its leases when it comes back after a crash, and charges what it had not saved", async () => {
    const stream = await beginStream();
    vendor.perform(healthy("Alpha"));
    const whole = await answerAndKill();
    const before = await readBalance();
    expect(before.leased).toBeGreaterThan(0);
    const { epoch } = await findGateway();
    gateway = await site.start(gateway.key);
    const again = await findGateway();
    expect([again.id, again.isLive]).toEqual([gatewayId, true]);
    expect(again.epoch).toBeGreaterThan(epoch);
    expect(await fetchGeneration({ ...gateway, key }, whole)).toMatchObject({ outcome: "completed" });
    expect(await fetchGeneration({ ...gateway, key }, stream)).toMatchObject({ outcome: "interrupted" });
    const after = await readBalance();
    expect(after.amount).toBeLessThanOrEqual(CREDITS - COST);
    expect(after.leased).toBeLessThan(before.leased);
    expect((await postChatTo({ ...gateway, key }, chat)).status).toBe(200);
  });

  test("another gateway takes its journal over from a shared volume, saves it once and gives its leases back", async () => {
    const stream = await beginStream();
    vendor.perform(healthy("Alpha"));
    const whole = await answerAndKill();
    expect(await takeOverHere()).toEqual([]);
    expect((await letTimePass()).isLive).toBe(false);
    expect((await readBalance()).leased).toBeGreaterThan(0);

    const lines = await takeOverHere();
    expect(lines[0]).toMatchObject({
      level: "warn",
      fields: { gateway_id: gatewayId, data_dir: site.dataDir },
    });
    expect(await stores.usage.findUsage(whole)).toMatchObject({
      outcome: "completed",
      costNanodollars: COST,
    });
    expect(await stores.usage.findUsage(stream)).toMatchObject({ outcome: "interrupted" });
    const { costNanodollars: partial } = (await stores.usage.findUsage(stream)) ?? { costNanodollars: -1 };
    expect(await readBalance()).toEqual({ amount: CREDITS - COST - partial, leased: 0 });
    expect(await stores.gateways.list()).toEqual([]);
    const [entry] = await stores.audit.listAudit({ limit: 1 });
    expect(entry).toMatchObject({
      action: "gateway takeover",
      target: gatewayId,
      changes: { journal: "saved", records_interrupted: 1 },
    });
    expect(site.journalFiles()).toEqual([]);

    // The next start on the data directory finds nothing to save, and charges nothing again.
    gateway = await site.start(gateway.key);
    expect((await readBalance()).amount).toBe(CREDITS - COST - partial);
    expect((await findGateway()).id).toBe(gatewayId);
  });

  test("its leases stay, and it is tried once, if its journal has entries that this version cannot read", async () => {
    expect((await postChatTo({ ...gateway, key }, chat)).status).toBe(200);
    await gateway.kill();
    const entry = JSON.stringify({ v: 99, kind: "something new" });
    const line = `${checksum(Buffer.from(entry))} ${entry}\n`;
    appendFileSync(join(site.dataDir, "journal", "00000099.log"), line);
    await letTimePass();
    const [first] = await takeOverHere();
    expect(first?.event).toStartWith("took over the journal");
    expect(await takeOverHere()).toEqual([]);
    expect((await stores.gateways.list()).map(({ id }) => id)).toEqual([gatewayId]);
    expect(await readBalance()).toMatchObject({ amount: CREDITS - COST });
    expect((await readBalance()).leased).toBeGreaterThan(0);
    gateway = await site.start(gateway.key);
  });

  test("only the leading gateway takes over, and looks every ten seconds", async () => {
    await answerAndKill();
    await letTimePass();
    const { log } = createMemoryLog();
    const clock = createTestClock();
    let isLeading = false;
    let asked = 0;
    const isLeader = async () => {
      asked += 1;
      return isLeading;
    };
    const timer = takeOverRegularly({
      endResponses: async () => {},
      stores,
      clock,
      log,
      isLeader,
      dataDir: folder,
    });
    clock.advance(9_999);
    expect(asked).toBe(0);
    clock.advance(1);
    await eventually("the first round", () => asked === 1);
    expect(await stores.gateways.list()).toHaveLength(1);
    isLeading = true;
    await eventually("the takeover", async () => {
      clock.advance(10_000);
      return (await stores.gateways.list()).length === 0;
    });
    timer.cancel();
    expect(clock.pendingTimers).toBe(0);
    gateway = await site.start(gateway.key);
  });

  test("a gateway that is only stopped is not taken over, and goes on when it wakes up", async () => {
    expect((await postChatTo({ ...gateway, key }, chat)).status).toBe(200);
    gateway.suspend();
    const stopped = await letTimePass();
    expect(stopped.isLive).toBe(false);
    expect(await takeOverHere()).toEqual([]);
    expect(isStillHere(stopped)).toBe(true);
    gateway.resume();
    await eventually("the renewal", async () => (await findGateway()).isLive);
    expect((await findGateway()).epoch).toBe(stopped.epoch);
    expect((await postChatTo({ ...gateway, key }, chat)).status).toBe(200);
  });

  test("a gateway that wakes up after its leases were released ends with a code for supervisors, and starts again", async () => {
    expect((await postChatTo({ ...gateway, key }, chat)).status).toBe(200);
    await eventually("the record", async () => (await readBalance()).amount < CREDITS);
    gateway.suspend();
    const gone = await letTimePass();
    // As from another machine, whose operator takes the disk for lost.
    const released = await giveUpJournal({ stores, gone, action: "gateway leases release" });
    expect(released).toMatchObject({ hadJournal: false });
    expect((await readBalance()).leased).toBe(0);
    expect(await giveUpJournal({ stores, gone, action: "gateway leases release" })).toBeNull();

    gateway.resume();
    expect(await gateway.exited).toBe(75);
    expect(gateway.printed()).toContain("this gateway was replaced and ends now");
    gateway = await site.start(gateway.key);
    expect((await postChatTo({ ...gateway, key }, chat)).status).toBe(200);
    await eventually("both charges", async () => (await readBalance()).amount === CREDITS - 2 * COST);
  });

  test("a gateway that stops gives its leases back and is listed no more", async () => {
    expect((await postChatTo({ ...gateway, key }, chat)).status).toBe(200);
    expect(await gateway.terminate()).toBe(0);
    expect(await stores.gateways.list()).toEqual([]);
    expect(await readBalance()).toEqual({ amount: CREDITS - COST, leased: 0 });
    gateway = await site.start(gateway.key);
  });
});
