import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { checkConfig } from "../../src/app/config/load-config.ts";
import { wireUp } from "../../src/app/start/wire-up.ts";
import type { Log } from "../../src/base/failures/log.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { createKey } from "../../src/core/accounts/manage/manage-keys.ts";
import { listen } from "../../src/http/server/server.ts";
import { fetchRecord, startTwoVendors, type TwoVendors } from "../faults/two-vendors.ts";
import { usageOf } from "../storage/contracts/samples.ts";
import { openGatewayDatabase } from "../support/databases/gateway-database.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { postChat, startTestGateway } from "../support/gateway/gateway.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";

const messages = [{ role: "user", content: "Hello!" }];

describe("a store that rejects records", () => {
  let vendors: TwoVendors;
  let elsewhere: Database;

  beforeEach(async () => {
    vendors = await startTwoVendors();
    elsewhere = openGatewayDatabase(vendors.gateway.dataDir);
  });
  afterEach(async () => {
    elsewhere.close();
    await vendors.stop();
  });

  const takeAway = () => elsewhere.exec("ALTER TABLE generations RENAME TO generations_away");
  const bringBack = () => elsewhere.exec("ALTER TABLE generations_away RENAME TO generations");
  const countRecords = () =>
    (elsewhere.query("SELECT count(*) AS count FROM generations").get() as { count: number }).count;

  /** Lets enough time pass for records to be collected and the store to be tried again. */
  async function letStoreBeTried(): Promise<void> {
    vendors.clock.advance(1_100);
    await turnEventLoop();
  }

  test("requests are served, readyz tells that records wait, and they are saved later", async () => {
    const { gateway } = vendors;
    const ready = () => fetch(`${gateway.url}/readyz`);
    expect((await ready()).status).toBe(200);
    takeAway();
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      const response = await postChat(gateway, { model: "acme/both", stream: i > 0, messages });
      expect(response.status).toBe(200);
      await response.text();
      ids.push(response.headers.get("x-gateway-generation-id") as string);
      await letStoreBeTried();
    }
    const degraded = await ready();
    expect(degraded.status).toBe(200);
    expect(await degraded.json()).toEqual({
      status: "degraded",
      problems: [
        expect.stringMatching(/^The store does not accept records; 3 wait in the journal \(0\.0 MB\)\.$/),
      ],
    });
    // A record that waits for the store is found.
    for (const id of ids) expect(await fetchRecord(gateway, id)).toMatchObject({ id, outcome: "completed" });
    expect(
      gateway.log.filter(({ level, event }) => level === "error" && event.includes("store")).length,
    ).toBeGreaterThan(0);
    bringBack();
    await letStoreBeTried();
    expect(await (await ready()).json()).toEqual({ status: "ready" });
    expect(countRecords()).toBe(3);
    for (const id of ids) expect(await fetchRecord(gateway, id)).toMatchObject({ id, outcome: "completed" });
  });

  test("a request that needs the store is answered with 503 and Retry-After", async () => {
    const { gateway } = vendors;
    takeAway();
    const response = await fetch(`${gateway.base}/generation?id=gen_unknown`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).not.toBeNull();
    bringBack();
  });
});

describe("a store that stays unavailable", () => {
  const SECONDS = 150;

  /** Returns when, in seconds, each event was logged while the store was unavailable and for some seconds after. */
  async function logTimes(table: string, events: readonly [string, string]) {
    const clock = createTestClock();
    const gateway = await startTestGateway({ clock });
    const elsewhere = openGatewayDatabase(gateway.dataDir);
    const logged: (readonly [number, string])[] = [];
    await (await postChat(gateway, { model: "sandbox/echo", messages })).text();
    elsewhere.exec(`ALTER TABLE ${table} RENAME TO away`);
    for (let second = 0; second <= SECONDS + 5; second++) {
      if (second === SECONDS) elsewhere.exec(`ALTER TABLE away RENAME TO ${table}`);
      const before = gateway.log.length;
      // In steps, because each retry begins to wait only after the failure before it.
      for (let step = 0; step < 10; step++) {
        clock.advance(100);
        await turnEventLoop(2);
      }
      for (const { event } of gateway.log.slice(before))
        if (events.includes(event)) logged.push([second, event]);
    }
    elsewhere.close();
    await gateway.stop();
    return logged;
  }

  test.each([
    ["settings", "the store is unavailable", "the store is available again"],
    ["generations", "the store rejects records; they wait in the journal", "records are stored again"],
  ])(
    "the log reports it at once, then once a minute, and when it ends: %s",
    async (table, trouble, relief) => {
      const logged = await logTimes(table, [trouble, relief]);
      expect(logged.map(([, event]) => event)).toEqual([trouble, trouble, trouble, relief]);
      const [first = 0, second = 0, third = 0, back = 0] = logged.map(([at]) => at);
      expect(first).toBeLessThan(2);
      expect(second - first).toBeWithin(59, 63);
      expect(third - second).toBeWithin(59, 63);
      expect(back - SECONDS).toBeWithin(0, 4);
    },
  );
});

test("records that wait for the store survive a shutdown, and the next start saves them", async () => {
  const first = await startTestGateway({ clock: createTestClock() });
  const elsewhere = openGatewayDatabase(first.dataDir);
  elsewhere.exec("ALTER TABLE generations RENAME TO generations_away");
  const response = await postChat(first, { model: "sandbox/echo", messages });
  const id = response.headers.get("x-gateway-generation-id") as string;
  await first.stop({ keepData: true });
  expect(first.log.some(({ event }) => event.includes("the journal keeps them"))).toBe(true);
  elsewhere.exec("ALTER TABLE generations_away RENAME TO generations");
  elsewhere.close();
  const second = await startTestGateway({ dataDir: first.dataDir, key: first.key });
  expect(await fetchRecord(second, id)).toMatchObject({ id, outcome: "completed" });
  await second.stop();
});

test("a gateway whose journal is full rejects requests with 503 and Retry-After, until the store has the records", async () => {
  const dataDir = makeTempFolder("gateway-test-");
  const yaml = `limits: {journal_bytes: ${JOURNAL_BYTES}}`;
  const config = checkConfig(yaml, "gateway.yaml", { GATEWAY_DATA_DIR: dataDir, GATEWAY_PORT: "0" });
  const clock = createTestClock();
  const random = createSystemRandom();
  const parts = await wireUp(config, { clock, random, log: SILENT, environment: {} });
  const { secret } = await createKey(parts.stores, { kind: "inference", name: "test", expiresAt: null });
  const listening = { host: "127.0.0.1", port: 0, extraPrefixes: [], sendBufferBytes: 0, sharesPort: false };
  const server = listen(() => parts.http, listening);
  const gateway = { base: `http://127.0.0.1:${server.port}/api/gateway`, key: secret };
  const ask = () => postChat(gateway as Parameters<typeof postChat>[0], { model: "sandbox/echo", messages });
  const elsewhere = openGatewayDatabase(dataDir);
  elsewhere.exec("ALTER TABLE generations RENAME TO generations_away");
  expect((await ask()).status).toBe(200);
  for (let i = 0; i < FULL; i++)
    parts.recorder.write(usageOf(`gen_${i}`, { upstreamModel: "x".repeat(JOURNAL_BYTES / FULL) }).record);
  parts.recorder.flush();
  const refused = await ask();
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("5");
  expect(((await refused.json()) as { error_type: string }).error_type).toBe("unavailable");
  elsewhere.exec("ALTER TABLE generations_away RENAME TO generations");
  elsewhere.close();
  await parts.recorder.drain();
  expect((await ask()).status).toBe(200);
  await server.stop();
  parts.journal.close();
  parts.release();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The smallest journal that may be configured. */
const JOURNAL_BYTES = 33_554_432;
/** Records that fill it. */
const FULL = 1_024;

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
