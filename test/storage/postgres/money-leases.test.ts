import { describe, expect, test } from "bun:test";
import { systemClock } from "../../../src/base/time/clock.ts";
import { LeasedHoldBook } from "../../../src/core/ledger/leases/leased-hold-book.ts";
import type { Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { PostgresGatewayRegistry } from "../../../src/storage/postgres/gateways/gateway-registry.ts";
import { PostgresMoneyLeases } from "../../../src/storage/postgres/gateways/money-leases.ts";
import { PostgresLedgerStore } from "../../../src/storage/postgres/ledger/ledger-store.ts";
import { PostgresUsageStore } from "../../../src/storage/postgres/usage/usage-store.ts";
import { testHoldBook } from "../../ledger/contracts/hold-book.ts";
import { testMoneyLeases } from "../../ledger/contracts/money-leases.ts";
import { MemoryLeaseBank } from "../../ledger/memory-money-leases.ts";
import { POSTGRES_BIN } from "../../support/databases/postgres.ts";
import { NO_CONFIG } from "../../support/gateway/reported-config.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { grantOf } from "../contracts/samples.ts";
import { usePostgres } from "./databases.ts";

async function register(database: Postgres, id: string) {
  const description = {
    id,
    host: "host",
    version: "1.0.0",
    dataDir: `/data/${id}`,
    masterKeys: [],
    config: NO_CONFIG,
  };
  const identity = await new PostgresGatewayRegistry(database).register(description);
  return () => identity;
}

describe.skipIf(POSTGRES_BIN === null)("the leases of money in PostgreSQL", () => {
  const connect = usePostgres();
  testMoneyLeases(() => {
    const database = connect();
    const ledger = new PostgresLedgerStore({ database, maintenance: database });
    const usage = new Map<string, PostgresUsageStore>();
    return {
      async register(gatewayId) {
        const identity = await register(database, gatewayId);
        usage.set(gatewayId, new PostgresUsageStore({ database, identity }));
        return new PostgresMoneyLeases(connect(), identity);
      },
      async credit(accountId, amount) {
        await ledger.addTransfer({ ...grantOf("grant_1", amount), to: accountId });
      },
      async save(gatewayId, entry) {
        await usage.get(gatewayId)?.saveUsage([entry]);
      },
    };
  });
});

describe.skipIf(POSTGRES_BIN === null)("an order to borrow in PostgreSQL", () => {
  const connect = usePostgres();

  test("is one statement, and one to give back, with the balance and several limits", async () => {
    const database = connect();
    const identity = await register(database, "gateway_a");
    const ledger = new PostgresLedgerStore({ database, maintenance: database });
    await ledger.addTransfer({ ...grantOf("grant_1", 1_000), to: "user_a" });
    const statements: string[] = [];
    const counted: Postgres = {
      ...database,
      run(text, values) {
        statements.push(text);
        return database.run(text, values);
      },
      transaction(work) {
        statements.push("BEGIN");
        return database.transaction(work);
      },
    };
    const leases = new PostgresMoneyLeases(counted, identity);
    const limits = ["key:key_a@0", "member:org/user_a@20000", "organization:org@19990"];
    const orderOf = (ticket: number) => ({
      ticket,
      accountId: "user_a",
      leases: ["balance", ...limits].map((name) => ({
        name,
        bound: name === "balance" ? 0 : 500,
        least: 10,
        amount: 20,
        most: 30,
        ahead: 5,
      })),
    });
    // The first one creates the rows of the limits.
    await leases.borrow(orderOf(1));
    statements.length = 0;
    expect((await leases.borrow(orderOf(2))).isLent).toBe(true);
    expect(statements).toHaveLength(1);
    await leases.giveBack({ ticket: 3, accountId: "user_a", leases: [{ name: "balance", amount: 10 }] });
    expect(statements).toHaveLength(2);
  });

  test("lends what the decision in memory lends, for any requests, balances and limits", async () => {
    const random = createSeededRandom(7);
    const upTo = (most: number) => random.below(most + 1);
    const database = connect();
    const ledger = new PostgresLedgerStore({ database, maintenance: database });
    const credits = 5_000_000;
    await ledger.addTransfer({ ...grantOf("grant_1", credits), to: "user_a" });
    const bank = new MemoryLeaseBank({ balanceOf: () => credits, spentOf: () => 0 });
    const gateways = await Promise.all(
      ["a", "b"].map(async (id) => ({
        stored: new PostgresMoneyLeases(database, await register(database, id)),
        model: bank.register(id),
      })),
    );
    for (let ticket = 1; ticket <= 300; ticket++) {
      const { stored, model } = gateways[upTo(1)]!;
      const requestOf = (name: string, bound: number) => {
        const least = upTo(3) === 0 ? 0 : upTo(400_000);
        const amount = least + upTo(200_000);
        return { name, bound, least, amount, most: amount + upTo(900_000), ahead: upTo(500_000) };
      };
      const limits = upTo(1) === 0 ? [] : [requestOf("key:key_a@0", upTo(9_000_000))];
      const order = {
        ticket,
        accountId: "user_a",
        leases: [requestOf("balance", upTo(1_000_000)), ...limits],
      };
      expect(await stored.borrow(order)).toEqual(await model.borrow(order));
      if (upTo(2) > 0) continue;
      const [{ leases }, inMemory] = await Promise.all([stored.listLeases(), model.listLeases()]);
      expect(leases).toEqual([...inMemory.leases]);
      const returned = leases.map(({ name, amount }) => ({ name, amount: upTo(amount) }));
      const giveBack = { ticket: ++ticket, accountId: "user_a", leases: returned };
      await Promise.all([stored.giveBack(giveBack), model.giveBack(giveBack)]);
    }
  });
});

describe.skipIf(POSTGRES_BIN === null)("the hold book over leases in PostgreSQL", () => {
  const connect = usePostgres();
  testHoldBook(async () => {
    const database = connect();
    const identity = await register(database, "gateway_a");
    const ledger = new PostgresLedgerStore({ database, maintenance: database });
    return {
      holdBook: new LeasedHoldBook({
        leases: new PostgresMoneyLeases(database, identity),
        store: ledger,
        clock: systemClock,
      }),
      ledger,
      usage: new PostgresUsageStore({ database, identity }),
    };
  });
});
