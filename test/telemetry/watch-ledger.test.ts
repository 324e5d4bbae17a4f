import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { openSqliteStores } from "../../src/app/stores/open-sqlite-stores.ts";
import { createLedgerCheck, createLedgerWatch } from "../../src/app/watch/watch-ledger.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { MINUTE_MS } from "../../src/base/time/time.ts";
import { printFamilies } from "../../src/telemetry/metrics/print-metrics.ts";
import { createMetricRegistry } from "../../src/telemetry/metrics/registry.ts";
import { openGatewayDatabase } from "../support/databases/gateway-database.ts";
import { turnEventLoop, waitFor } from "../support/event-loop.ts";
import { createMemoryLog, startTestGateway } from "../support/gateway/gateway.ts";
import { parseScrape, scrape } from "../support/servers/scrape.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";

describe("the regular ledger check", () => {
  function watch(results: (number | Error)[], options: { isLeader?: boolean; durationMs?: number } = {}) {
    const clock = createTestClock();
    const registry = createMetricRegistry();
    const { log, lines } = createMemoryLog();
    const told: number[] = [];
    let checks = 0;
    const ledgerWatch = createLedgerWatch({
      registry,
      clock,
      log,
      onChecked: (differences) => told.push(differences),
      isLeader: async () => options.isLeader ?? true,
      async countDifferences() {
        checks += 1;
        clock.advance(options.durationMs ?? 0);
        const result = results.shift() ?? 0;
        if (result instanceof Error) throw result;
        return result;
      },
    });
    const timer = ledgerWatch.start(60);
    const read = async () =>
      parseScrape((await printFamilies(registry.families)).map(({ samples }) => samples).join(""));
    const advance = async (ms: number): Promise<void> => {
      clock.advance(ms);
      await turnEventLoop();
    };
    return { ...ledgerWatch, timer, advance, read, lines, told, count: () => checks };
  }

  test("reports the number of inconsistencies and its age, and logs an inconsistent ledger", async () => {
    const ledger = watch([0, 3]);
    expect((await ledger.read()).series).toEqual([]);
    await ledger.advance(MINUTE_MS);
    await ledger.advance(30_000);
    expect((await ledger.read()).value("gateway_ledger_imbalance")).toBe(0);
    expect((await ledger.read()).value("gateway_ledger_check_age_seconds")).toBe(30);
    await ledger.advance(60 * MINUTE_MS);
    expect((await ledger.read()).value("gateway_ledger_imbalance")).toBe(3);
    expect(ledger.lines.map(({ level }) => level)).toEqual(["error"]);
    expect(ledger.told).toEqual([0, 3]);
  });

  test("keeps the last result if a check fails, so that its age shows it", async () => {
    const ledger = watch([0, new Error("busy")]);
    await ledger.advance(MINUTE_MS);
    await ledger.advance(60 * MINUTE_MS);
    const metrics = await ledger.read();
    expect(metrics.value("gateway_ledger_imbalance")).toBe(0);
    expect(metrics.value("gateway_ledger_check_age_seconds")).toBe(3_600);
    expect(ledger.lines.map(({ level }) => level)).toEqual(["warn"]);
  });

  test("is made at other intervals after a restart, and its last result is forgotten when checks end", async () => {
    const ledger = watch([3, 3]);
    await ledger.advance(MINUTE_MS);
    ledger.timer?.cancel();
    const timer = ledger.start(5);
    expect((await ledger.read()).value("gateway_ledger_imbalance")).toBe(3);
    await ledger.advance(MINUTE_MS);
    await ledger.advance(5 * MINUTE_MS);
    expect(ledger.count()).toBe(3);
    timer?.cancel();
    ledger.start(0);
    await ledger.advance(60 * MINUTE_MS);
    expect(ledger.count()).toBe(3);
    expect((await ledger.read()).series).toEqual([]);
  });

  test("is left to the leading gateway", async () => {
    const ledger = watch([], { isLeader: false });
    await ledger.advance(MINUTE_MS);
    expect(ledger.count()).toBe(0);
    expect((await ledger.read()).series).toEqual([]);
  });

  test("uses at most a hundredth of the time", async () => {
    const ledger = watch([], { durationMs: 2 * MINUTE_MS });
    await ledger.advance(MINUTE_MS);
    await ledger.advance(199 * MINUTE_MS);
    expect(ledger.count()).toBe(1);
    await ledger.advance(MINUTE_MS);
    expect(ledger.count()).toBe(2);
  });
});

describe("the ledger check of a gateway", () => {
  test("ends with the number of inconsistencies as a metric", async () => {
    const clock = createTestClock();
    const gateway = await startTestGateway({ yaml: "sandbox: on", clock });
    try {
      clock.advance(MINUTE_MS);
      const found = await waitFor(async () => (await scrape(gateway)).value("gateway_ledger_imbalance"));
      expect(found).toBe(0);
    } finally {
      await gateway.stop();
    }
  });

  test("finds a balance in SQLite that is not the sum of its transfers", async () => {
    const dataDir = makeTempFolder("gateway-ledger-");
    const stores = openSqliteStores(
      { data_dir: dataDir },
      { clock: systemClock, random: createSystemRandom() },
    );
    const check = createLedgerCheck(stores);
    expect(await check()).toBe(0);
    const database = openGatewayDatabase(dataDir);
    database.run("INSERT INTO balances (account_id, amount) VALUES ('user_a', 1)");
    database.close();
    expect(await check()).toBe(1);
    await stores.close();
    rmSync(dataDir, { recursive: true });
  });
});
