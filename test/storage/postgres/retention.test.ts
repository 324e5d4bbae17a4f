import { describe, expect, test } from "bun:test";
import { lowestIdAt } from "../../../src/base/secrets/ids.ts";
import { DAY_MS } from "../../../src/base/time/time.ts";
import type { Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { PostgresGatewayRegistry } from "../../../src/storage/postgres/gateways/gateway-registry.ts";
import { PostgresMoneyLeases } from "../../../src/storage/postgres/gateways/money-leases.ts";
import { PostgresRetention } from "../../../src/storage/postgres/usage/retention.ts";
import { PostgresUsageStore } from "../../../src/storage/postgres/usage/usage-store.ts";
import { POSTGRES_BIN } from "../../support/databases/postgres.ts";
import { NO_CONFIG } from "../../support/gateway/reported-config.ts";
import { usageOf } from "../contracts/samples.ts";
import { usePostgres } from "./databases.ts";

/** 1 January 2025, counted from the epoch. */
const JANUARY = 20_089;
const FEBRUARY = JANUARY + 31;
const MARCH = FEBRUARY + 28;
const GATEWAY = {
  id: "gateway_a",
  host: "host",
  version: "1",
  dataDir: "/data",
  masterKeys: [],
  config: NO_CONFIG,
};

/** A generation of a member of an organization, which costs 30. */
function memberUsage(day: number) {
  const createdAt = day * DAY_MS;
  const id = `${lowestIdAt("gen", createdAt)}0000000000000000`;
  return usageOf(id, {
    createdAt,
    finishedAt: createdAt + 1,
    accountId: "org_a",
    userId: "user_a",
    keyId: "key_a",
  });
}

describe.skipIf(POSTGRES_BIN === null)(
  "the retention of what spending limits have used in PostgreSQL",
  () => {
    const connect = usePostgres();

    async function dropBefore(database: Postgres, day: number): Promise<number> {
      const retention = new PostgresRetention(database);
      let steps = 1;
      while ((await retention.dropUsage(day)).hasMore) steps += 1;
      return steps;
    }

    async function listPeriods(database: Postgres): Promise<string[]> {
      const rows = await database.run<{ meter: string; since: number; spent: string }>(
        "SELECT meter, since, spent FROM spending ORDER BY meter, since",
      );
      return rows.map(({ meter, since, spent }) => `${meter} ${since} ${spent}`);
    }

    test("deletes days and months that have ended before the first kept day, and keeps totals and all other periods", async () => {
      const database = connect();
      const usage = new PostgresUsageStore({ database });
      await usage.saveUsage([JANUARY, FEBRUARY, MARCH - 1, MARCH + 5].map(memberUsage));
      const kept = [
        "key:key_a 0 120",
        `member:org_a/user_a ${MARCH - 1} 30`,
        `member:org_a/user_a ${MARCH + 5} 30`,
        `organization:org_a ${FEBRUARY} 60`,
        `organization:org_a ${MARCH} 30`,
      ];
      await dropBefore(database, MARCH);
      expect(await listPeriods(database)).toEqual([
        ...kept.slice(0, 1),
        `member:org_a/user_a ${FEBRUARY} 30`,
        ...kept.slice(1),
      ]);
      // February has 28 days; a period counts as ended after 31.
      await dropBefore(database, MARCH + 3);
      expect(await listPeriods(database)).toEqual(kept.filter((row) => !row.includes(` ${FEBRUARY} `)));
    });

    test("keeps a period of which a gateway has leased a part, until it has given that back", async () => {
      const database = connect();
      const identity = await new PostgresGatewayRegistry(database).register(GATEWAY);
      const leases = new PostgresMoneyLeases(database, () => identity);
      const name = `member:org_a/user_a@${JANUARY}`;
      const amounts = { bound: 100, least: 10, amount: 10, most: 10, ahead: 0 };
      await leases.borrow({ ticket: 1, accountId: "org_a", leases: [{ name, ...amounts }] });
      await dropBefore(database, MARCH);
      expect(await listPeriods(database)).toEqual([`member:org_a/user_a ${JANUARY} 0`]);
      await leases.giveBack({ ticket: 2, accountId: "org_a", leases: [{ name, amount: 10 }] });
      await dropBefore(database, MARCH);
      expect(await listPeriods(database)).toEqual([]);
    });

    test("deletes many in several steps, and leaves those that another transaction has locked to the next sweep", async () => {
      const database = connect();
      await database.run(
        `INSERT INTO spending (meter, since, spent) SELECT 'member:org_a/user_' || n, ${JANUARY}, 1 FROM generate_series(1, 4100) n`,
      );
      await database.transaction(async (sql) => {
        await sql.run("SELECT 1 AS one FROM spending WHERE meter = 'member:org_a/user_7' FOR UPDATE");
        expect(await dropBefore(connect(), MARCH)).toBe(3);
      });
      expect(await listPeriods(database)).toEqual([`member:org_a/user_7 ${JANUARY} 1`]);
      await dropBefore(database, MARCH);
      expect(await listPeriods(database)).toEqual([]);
    });
  },
);
