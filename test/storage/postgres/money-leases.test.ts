import { describe } from "bun:test";
import { systemClock } from "../../../src/base/clock.ts";
import { LeasedHoldBook } from "../../../src/core/ledger/leased-hold-book.ts";
import type { Postgres } from "../../../src/storage/postgres/client.ts";
import { PostgresGatewayRegistry } from "../../../src/storage/postgres/gateway-registry.ts";
import { PostgresLedgerStore } from "../../../src/storage/postgres/ledger-store.ts";
import { PostgresMoneyLeases } from "../../../src/storage/postgres/money-leases.ts";
import { PostgresUsageStore } from "../../../src/storage/postgres/usage-store.ts";
import { testHoldBook } from "../../ledger/contracts/hold-book.ts";
import { testMoneyLeases } from "../../ledger/contracts/money-leases.ts";
import { POSTGRES_BIN } from "../../support/postgres.ts";
import { grantOf } from "../contracts/samples.ts";
import { usePostgres } from "./databases.ts";

async function register(database: Postgres, id: string) {
  const description = { id, host: "host", version: "1.0.0", dataDir: `/data/${id}`, masterKeys: [] };
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
