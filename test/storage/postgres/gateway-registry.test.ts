import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { GatewayReplacedError } from "../../../src/core/gateways/gateway-identity.ts";
import { GATEWAY_LEASE_MS, RENEWAL_MS } from "../../../src/core/gateways/gateway-registry.ts";
import type { Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { PostgresGatewayRegistry } from "../../../src/storage/postgres/gateways/gateway-registry.ts";
import { requireEpoch } from "../../../src/storage/postgres/gateways/require-epoch.ts";
import { type DatabaseClock, stopDatabaseClock } from "../../support/databases/database-clock.ts";
import { openTestPostgres } from "../../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import { NO_CONFIG } from "../../support/gateway/reported-config.ts";

const START = 1_700_000_000_000;

describe.skipIf(POSTGRES_BIN === null)("the gateways of a PostgreSQL database", () => {
  let server: TestPostgres;
  let clock: DatabaseClock;
  let database: Postgres;
  let registry: PostgresGatewayRegistry;

  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    const url = await server.createMigratedDatabase();
    clock = await stopDatabaseClock(url, START);
    database = openTestPostgres(url, 4);
    registry = new PostgresGatewayRegistry(database);
  });
  afterEach(async () => {
    await database.close();
    await clock.close();
  });

  const register = (id: string) =>
    registry.register({
      id,
      host: "host",
      version: "1.0.0",
      dataDir: `/data/${id}`,
      masterKeys: ["key_1", "key_2"],
      config: NO_CONFIG,
    });
  const isCurrent = (identity: Awaited<ReturnType<typeof register>>) =>
    requireEpoch(database, identity).then(
      () => true,
      (error) => {
        expect(error).toBeInstanceOf(GatewayReplacedError);
        return false;
      },
    );

  test("a gateway that has registered is listed as live with what it told about itself", async () => {
    const { epoch } = await register("gateway_a");
    expect(await registry.list()).toEqual([
      {
        id: "gateway_a",
        epoch,
        host: "host",
        version: "1.0.0",
        dataDir: "/data/gateway_a",
        masterKeys: ["key_1", "key_2"],
        config: NO_CONFIG,
        isLive: true,
        startedAt: START,
        seenAt: START,
        endsAt: START + GATEWAY_LEASE_MS,
        redisId: null,
        leased: 0,
      },
    ]);
  });

  test("each start of a gateway raises its epoch, also after its end, and the epoch before is rejected", async () => {
    const first = await register("gateway_a");
    expect(await isCurrent(first)).toBe(true);
    const second = await register("gateway_a");
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect([await isCurrent(first), await isCurrent(second)]).toEqual([false, true]);
    await registry.end(second);
    expect(await registry.list()).toEqual([]);
    const third = await register("gateway_a");
    expect(third.epoch).toBeGreaterThan(second.epoch);
    expect([await isCurrent(second), await isCurrent(third)]).toEqual([false, true]);
  });

  test("a gateway is live for thirty seconds after its last renewal, and learns its rank among the live ones", async () => {
    const a = await register("gateway_a");
    const b = await register("gateway_b");
    await clock.set(START + 1);
    await registry.renew(a);
    expect(await registry.renew(b)).toEqual({ count: 2, rank: 1 });
    expect(await registry.renew(a)).toEqual({ count: 2, rank: 0 });
    await clock.set(START + GATEWAY_LEASE_MS);
    expect(await registry.renew(b)).toEqual({ count: 2, rank: 1 });
    await clock.set(START + GATEWAY_LEASE_MS + 1);
    expect(await registry.renew(b)).toEqual({ count: 1, rank: 0 });
    expect((await registry.list()).map(({ id, isLive }) => [id, isLive])).toEqual([
      ["gateway_a", false],
      ["gateway_b", true],
    ]);
    // The gateway comes back after it was cut from the database, and no process has taken it over.
    expect(await registry.renew(a)).toEqual({ count: 2, rank: 0 });
    expect(RENEWAL_MS * 3).toBeLessThan(GATEWAY_LEASE_MS);
  });

  test("a gateway learns its rank only when every other live gateway has counted it", async () => {
    const a = await register("gateway_a");
    await register("gateway_c");
    await clock.set(START + RENEWAL_MS);
    const b = await register("gateway_b");
    expect(await registry.renew(b)).toBeNull();
    await clock.set(START + RENEWAL_MS + 1);
    await registry.renew(a);
    expect(await registry.renew(b)).toBeNull();
    // The third does not renew any more, and does not count after its time.
    await clock.set(START + GATEWAY_LEASE_MS);
    expect(await registry.renew(b)).toEqual({ count: 2, rank: 1 });
  });

  test("the leases of a gateway go back to their balances and limits in pages, and its row stays until then", async () => {
    const identity = await register("gateway_a");
    await register("gateway_b");
    await database.run(
      `INSERT INTO balances (account_id, amount, leased) SELECT 'acct_' || lpad(n::text, 4, '0'), 1000, 30 FROM generate_series(1, 700) AS n`,
    );
    await database.run(
      `INSERT INTO balance_leases (account_id, gateway_id, amount)
       SELECT account_id, 'gateway_a', 10 FROM balances UNION ALL SELECT account_id, 'gateway_b', 20 FROM balances`,
    );
    await database.run("INSERT INTO spending (meter, since, spent, leased) VALUES ('key:key_1', 5, 0, 7)");
    await database.run(
      `INSERT INTO spending_leases (meter, since, gateway_id, account_id, amount) VALUES ('key:key_1', 5, 'gateway_a', 'acct_0001', 7)`,
    );
    expect((await registry.list()).map(({ leased }) => leased)).toEqual([7_000, 14_000]);
    await registry.end(identity);
    expect((await registry.list()).map(({ isLive }) => isLive)).toEqual([false, true]);

    const first = await registry.releaseLeases(identity);
    expect(first).toHaveLength(501);
    expect(first).toContainEqual({ accountId: "acct_0001", limit: null, amount: 10 });
    expect(first).toContainEqual({ accountId: "acct_0001", limit: "key:key_1", amount: 7 });
    expect(await registry.releaseLeases(identity)).toHaveLength(200);
    expect(await registry.releaseLeases(identity)).toBeNull();
    const left = await database.run(
      "SELECT DISTINCT leased FROM balances UNION ALL SELECT leased FROM spending",
    );
    expect(left).toEqual([{ leased: "20" }, { leased: "0" }]);
    await registry.end(identity);
    expect((await registry.list()).map(({ id, leased }) => [id, leased])).toEqual([["gateway_b", 14_000]]);
    await expect(registry.releaseLeases(identity)).rejects.toBeInstanceOf(GatewayReplacedError);
  });

  test("a live gateway cannot be taken over, and one whose time is over only once at its epoch", async () => {
    const gone = await register("gateway_a");
    expect(await registry.takeOver(gone)).toBeNull();
    await clock.set(START + GATEWAY_LEASE_MS);
    const [one, two] = await Promise.all([registry.takeOver(gone), registry.takeOver(gone)]);
    const taken = one ?? two;
    expect([one, two].filter((identity) => identity !== null)).toHaveLength(1);
    expect(taken?.epoch).toBeGreaterThan(gone.epoch);
    expect(await isCurrent(gone)).toBe(false);
    await expect(registry.renew(gone)).rejects.toBeInstanceOf(GatewayReplacedError);
    // The row stays not live, so that another process can continue a takeover that has failed.
    expect((await registry.list())[0]?.isLive).toBe(false);
    await registry.end(gone);
    expect(await registry.list()).toHaveLength(1);
    if (taken !== null) await registry.end(taken);
    expect(await registry.list()).toHaveLength(0);
  });

  test("a takeover waits for a transaction of the gateway that has checked its epoch", async () => {
    const gone = await register("gateway_a");
    await clock.set(START + GATEWAY_LEASE_MS);
    const events: string[] = [];
    const checked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const saving = database.transaction(async (sql) => {
      await requireEpoch(sql, gone);
      checked.resolve();
      await goOn.promise;
      events.push("saved");
    });
    await checked.promise;
    const taking = registry.takeOver(gone).then(() => events.push("taken"));
    await database.run("SELECT 1");
    goOn.resolve();
    await Promise.all([saving, taking]);
    expect(events).toEqual(["saved", "taken"]);
  });
});
