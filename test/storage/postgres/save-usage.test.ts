import { describe, expect, test } from "bun:test";
import { RejectedRecordError, StoreError } from "../../../src/base/failures/store-error.ts";
import { lowestIdAt } from "../../../src/base/secrets/ids.ts";
import { GatewayReplacedError } from "../../../src/core/gateways/gateway-identity.ts";
import type { Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { PostgresGatewayRegistry } from "../../../src/storage/postgres/gateways/gateway-registry.ts";
import { PostgresLedgerStore } from "../../../src/storage/postgres/ledger/ledger-store.ts";
import { PostgresUsageStore } from "../../../src/storage/postgres/usage/usage-store.ts";
import { POSTGRES_BIN } from "../../support/databases/postgres.ts";
import { NO_CONFIG } from "../../support/gateway/reported-config.ts";
import { grantOf, openUsageOf, usageOf } from "../contracts/samples.ts";
import { usePostgres } from "./databases.ts";

const DAY_MS = 86_400_000;
const GATEWAY = {
  id: "gateway_a",
  host: "host",
  version: "1",
  dataDir: "/data",
  masterKeys: [],
  config: NO_CONFIG,
};

const idOn = (day: number, n = 0): string => `${lowestIdAt("gen", day * DAY_MS + n)}0000000000000000`;

describe.skipIf(POSTGRES_BIN === null)("saving generations in PostgreSQL", () => {
  const connect = usePostgres();
  const ledgerOf = (database: Postgres) => new PostgresLedgerStore({ database, maintenance: database });

  async function registerGateway(database: Postgres) {
    const identity = await new PostgresGatewayRegistry(database).register(GATEWAY);
    return { identity, store: new PostgresUsageStore({ database, identity: () => identity }) };
  }

  test("is rejected under an epoch that has ended, and then saves nothing", async () => {
    const database = connect();
    const earlier = await registerGateway(database);
    await earlier.store.saveUsage([openUsageOf("gen_1")]);
    const later = await registerGateway(database);
    const saving = earlier.store.saveUsage([usageOf("gen_1"), usageOf("gen_2")]);
    expect(await saving.catch((error) => error)).toBeInstanceOf(GatewayReplacedError);
    const quarantining = earlier.store.quarantineUsage(usageOf("gen_1"), "reason", 1);
    expect(await quarantining.catch((error) => error)).toBeInstanceOf(GatewayReplacedError);
    expect((await later.store.findUsage("gen_1"))?.outcome).toBe("open");
    expect((await ledgerOf(database).findBalance("user_a")).balance).toBe(0);
    await later.store.saveUsage([usageOf("gen_1")]);
    expect((await ledgerOf(database).findBalance("user_a")).balance).toBe(-30);
  });

  test("lowers the leases that a record names once, in the transaction of its charge", async () => {
    const database = connect();
    const { store } = await registerGateway(database);
    await ledgerOf(database).addTransfer(grantOf("grant_1", 100));
    await database.run("UPDATE balances SET leased = 80");
    await database.run("INSERT INTO spending (meter, since, leased) VALUES ('key:key_a', 0, 80)");
    await database.run(
      "INSERT INTO balance_leases (account_id, gateway_id, amount) VALUES ('user_a', 'gateway_a', 50)",
    );
    await database.run(
      "INSERT INTO spending_leases (meter, since, gateway_id, account_id, amount) VALUES ('key:key_a', 0, 'gateway_a', 'user_a', 50)",
    );
    const leasedFrom = ["balance", "key:key_a@0"];
    await store.saveUsage([openUsageOf("gen_1", { leasedFrom })]);
    for (let times = 0; times < 2; times++)
      await store.saveUsage([usageOf("gen_1", { leasedFrom }), usageOf("gen_2")]);
    const [row] = await database.run(
      `SELECT b.amount, b.leased, l.amount AS lease, s.spent, s.leased AS meter_leased, m.amount AS meter_lease
       FROM balances b, balance_leases l, spending s, spending_leases m`,
    );
    expect(row).toEqual({
      amount: "40",
      leased: "50",
      lease: "20",
      spent: "60",
      meter_leased: "50",
      meter_lease: "20",
    });
  });

  test("counts a cost for the limits of the key, the member and the organization of its request", async () => {
    const database = connect();
    const store = new PostgresUsageStore({ database });
    const createdAt = Date.parse("2026-07-15T12:00:00Z");
    await store.saveUsage([
      usageOf("gen_1", { createdAt }),
      usageOf("gen_2", { createdAt, accountId: "org_a", keyId: "key_b", costNanodollars: 7 }),
      usageOf("gen_3", { createdAt, accountId: "org_a", keyId: "key_c", userId: null, costNanodollars: 5 }),
    ]);
    const rows = await database.run("SELECT meter, since, spent FROM spending ORDER BY meter");
    const [day, month] = [createdAt, Date.parse("2026-07-01")].map((ms) => Math.floor(ms / DAY_MS));
    expect(rows).toEqual([
      { meter: "key:key_a", since: 0, spent: "30" },
      { meter: "key:key_b", since: 0, spent: "7" },
      { meter: "key:key_c", since: 0, spent: "5" },
      { meter: "member:org_a/user_a", since: day, spent: "7" },
      { meter: "organization:org_a", since: month, spent: "12" },
    ]);
  });

  test("takes the same number of statements for one record and for five hundred", async () => {
    const database = connect();
    let statements = 0;
    const counting: Postgres = {
      ...database,
      run: (text, values) => {
        statements += 1;
        return database.run(text, values);
      },
      transaction: (work) =>
        database.transaction((sql) =>
          work({
            run: (text, values) => {
              statements += 1;
              return sql.run(text, values);
            },
          }),
        ),
    };
    const store = new PostgresUsageStore({ database: counting });
    const count = async (records: number, name: string) => {
      const before = statements;
      await store.saveUsage(
        Array.from({ length: records }, (_, n) => usageOf(`gen_${name}_${n}`, { accountId: `org_${n}` })),
      );
      return statements - before;
    };
    await count(1, "first");
    const one = await count(1, "one");
    expect(one).toBeLessThanOrEqual(6);
    expect(await count(500, "many")).toBe(one);
  });

  test("creates the partitions of a day and of the next one once, when several gateways begin the day together", async () => {
    const stores = Array.from({ length: 4 }, () => new PostgresUsageStore({ database: connect() }));
    await Promise.all(
      stores.map((store, n) => store.saveUsage([usageOf(idOn(20_000, n)), usageOf(idOn(20_005, n))])),
    );
    const rows = await connect().run<{ name: string }>(
      "SELECT relid::regclass::text AS name FROM pg_partition_tree('charges') WHERE isleaf ORDER BY 1",
    );
    expect(rows.map(({ name }) => name)).toEqual([
      "charges_2024_10_04",
      "charges_2024_10_05",
      "charges_2024_10_09",
      "charges_2024_10_10",
    ]);
    for (let n = 0; n < 4; n++) expect(await stores[0]!.findUsage(idOn(20_005, n))).not.toBeNull();
  });

  test("is not blamed on a record when a table is missing or the database is away", async () => {
    const database = connect();
    const store = new PostgresUsageStore({ database });
    await database.run("DROP TABLE usage_sums");
    const failure = await store.saveUsage([usageOf("gen_1")]).catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure).not.toBeInstanceOf(RejectedRecordError);
    expect(await store.findUsage("gen_1")).toBeNull();
  });

  test("keeps text with a null character", async () => {
    const store = new PostgresUsageStore({ database: connect() });
    const entry = usageOf("gen_1", { model: null, requestedModel: 'a\0"\\b' });
    await store.saveUsage([entry]);
    expect(await store.findUsage("gen_1")).toEqual(entry.record);
  });
});

describe.skipIf(POSTGRES_BIN === null)("the ledger in PostgreSQL", () => {
  const connect = usePostgres();

  test("takes back of an expired grant what no gateway has leased, and the rest when it is free", async () => {
    const database = connect();
    const ledger = new PostgresLedgerStore({ database, maintenance: database });
    const usage = new PostgresUsageStore({ database });
    await ledger.addTransfer(grantOf("grant_1", 100, { expiresAt: 10_000 }));
    await database.run("UPDATE balances SET leased = 40");
    expect(await ledger.expireGrant("grant_1", 10_001)).toBe(60);
    expect(await ledger.listEndedGrants(10_002, 9)).toHaveLength(1);
    expect(await ledger.findGrantsLeft("user_a")).toMatchObject([{ id: "grant_1", left: 40 }]);
    expect(await database.run("SELECT account_id FROM wanted_leases")).toEqual([{ account_id: "user_a" }]);
    await usage.saveUsage([usageOf("gen_1")]);
    await database.run("UPDATE balances SET leased = 5");
    expect(await ledger.expireGrant("grant_1", 10_003)).toBe(5);
    await database.run("UPDATE balances SET leased = 0");
    expect(await ledger.expireGrant("grant_1", 10_004)).toBe(5);
    expect(await ledger.listEndedGrants(10_005, 9)).toEqual([]);
    expect((await ledger.findBalance("user_a")).balance).toBe(0);
    expect(await ledger.sumTransfers("user_a")).toMatchObject({ grant: 100, usage: -30, expiry: -70 });
    expect(await ledger.findDifferences()).toEqual([]);
  });

  test.each([
    ["an update", "UPDATE credits SET amount = 1"],
    ["a deletion", "DELETE FROM credits"],
  ])("rejects %s of a credit by SQL", async (_change, statement) => {
    const database = connect();
    await new PostgresLedgerStore({ database, maintenance: database }).addTransfer(grantOf("grant_1", 100));
    expect(await database.run(statement).catch((error) => String(error))).toMatch(/never changed/);
  });
});
