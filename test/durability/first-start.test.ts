import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { checkConfig } from "../../src/app/config/load-config.ts";
import { type RunningGateway, startGateway } from "../../src/app/run/lifecycle.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { createKey } from "../../src/core/accounts/manage/manage-keys.ts";
import { openGatewayDatabase } from "../support/databases/gateway-database.ts";
import { startInlineThread } from "../support/databases/inline-store-thread.ts";
import { databaseVariables, ON_POSTGRES } from "../support/databases/test-databases.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";

let dataDir: string;

beforeEach(() => {
  dataDir = makeTempFolder("gateway-first-");
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

async function start(environment: Readonly<Record<string, string>> = {}): Promise<RunningGateway> {
  const variables = await databaseVariables(dataDir);
  const all = { GATEWAY_PORT: "0", GATEWAY_DATA_DIR: dataDir, ...variables, ...environment };
  const clocks = { clock: createTestClock(), databaseClock: systemClock };
  const platform = {
    ...clocks,
    random: createSystemRandom(),
    log: SILENT,
    environment: all,
    startStoreThread: startInlineThread,
  };
  return startGateway(checkConfig("server: {drain_notice_ms: 0}", "gateway.yaml", all), platform);
}

async function statusOf(gateway: RunningGateway, key: string | null | undefined): Promise<number> {
  const response = await fetch(`${gateway.url}/api/gateway/generation?id=gen_none`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return response.status;
}

/** The status for a valid key: there is no generation with that id. */
const LET_IN = 404;

/** Returns the kinds of the valid keys. */
async function listLive(): Promise<string[]> {
  const stores = await openTestStores(dataDir);
  const keys = await stores.keys.listKeys();
  await stores.close();
  return keys.flatMap(({ kind, revokedAt }) => (revokedAt === null ? kind : [])).sort();
}

/** Makes the database reject inference keys, as with a full disk, or accept them again. */
async function refuseInferenceKeys(refuses: boolean): Promise<void> {
  await (await openTestStores(dataDir)).close();
  const database = openGatewayDatabase(dataDir);
  database.exec(
    refuses
      ? `CREATE TRIGGER full BEFORE INSERT ON api_keys WHEN NEW.kind = 'inference'
         BEGIN SELECT RAISE(ABORT, 'disk full'); END`
      : "DROP TRIGGER full",
  );
  database.close();
}

describe("a first start that fails", () => {
  test.skipIf(ON_POSTGRES)(
    "a first start that failed between its two keys is repeated: both keys are shown, and no other key is valid",
    async () => {
      await refuseInferenceKeys(true);
      await expect(start()).rejects.toThrow("disk full");
      expect(await listLive()).toEqual(["management"]);
      await refuseInferenceKeys(false);
      const second = await start();
      expect(second.firstStart?.managementKey).toStartWith("gw_");
      expect(await statusOf(second, second.firstStart?.inferenceKey)).toBe(LET_IN);
      await second.stop();
      expect(await listLive()).toEqual(["inference", "management"]);
    },
  );

  // On a shared database the next start waits for the lease of the first.
  test.skipIf(ON_POSTGRES)(
    "a first start that failed before its keys were shown is repeated, and the earlier keys are not valid",
    async () => {
      const first = await start();
      await first.stop();
      const second = await start();
      expect(await statusOf(second, second.firstStart?.inferenceKey)).toBe(LET_IN);
      expect(await statusOf(second, first.firstStart?.inferenceKey)).toBe(401);
      await second.stop();
      expect(await listLive()).toEqual(["inference", "management"]);
    },
  );

  test("a repeated first start revokes no key that the operator created meanwhile", async () => {
    await (await start()).stop();
    const stores = await openTestStores(dataDir);
    const { secret } = await createKey(stores, { kind: "inference", name: "mine", expiresAt: null });
    await stores.close();
    const second = await start();
    expect(await statusOf(second, secret)).toBe(LET_IN);
    await second.stop();
  });
});

describe("a first start whose keys were shown", () => {
  test("the next start creates no keys, and the first ones stay valid", async () => {
    const first = await start();
    await first.firstStart?.confirmShown();
    await first.stop();
    const second = await start();
    expect(second.firstStart).toBeNull();
    expect(await statusOf(second, first.firstStart?.inferenceKey)).toBe(LET_IN);
    await second.stop();
  });

  test("a later start creates a management key if the operator no longer configures one", async () => {
    const first = await start({ GATEWAY_ADMIN_KEY: "an-operators-own-key" });
    expect(first.firstStart?.managementKey).toBeNull();
    await first.firstStart?.confirmShown();
    await first.stop();
    const second = await start();
    expect(second.firstStart).toMatchObject({ managementKey: expect.any(String), inferenceKey: null });
    await second.stop();
  });
});
