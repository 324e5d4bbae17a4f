import { describe } from "bun:test";
import { systemClock } from "../../src/base/time/clock.ts";
import { LeasedHoldBook } from "../../src/core/ledger/leases/leased-hold-book.ts";
import { SqliteLedgerStore } from "../../src/storage/sqlite/ledger/ledger-store.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage/usage-store.ts";
import { useSqlite } from "../storage/sqlite-connections.ts";
import { testHoldBook } from "./contracts/hold-book.ts";
import { testMoneyLeases } from "./contracts/money-leases.ts";
import { MemoryLeaseBank } from "./memory-money-leases.ts";

describe("the leases of money in memory", () => {
  testMoneyLeases(() => {
    const sums = { balance: 0, spent: 0 };
    const bank = new MemoryLeaseBank({ balanceOf: () => sums.balance, spentOf: () => sums.spent });
    const saved = new Set<string>();
    return {
      register: async (gatewayId) => bank.register(gatewayId),
      credit: async (_accountId, amount) => {
        sums.balance += amount;
      },
      save: async (gatewayId, { record }) => {
        if (saved.has(record.id)) return;
        saved.add(record.id);
        sums.balance -= record.costNanodollars;
        sums.spent += record.costNanodollars;
        bank.lower(gatewayId, record);
      },
    };
  });
});

describe("the hold book over leases in memory", () => {
  const connect = useSqlite();
  testHoldBook(() => {
    const database = connect();
    const ledger = new SqliteLedgerStore(database);
    const bank = new MemoryLeaseBank({
      balanceOf: async (accountId) => (await ledger.findBalance(accountId)).balance,
      spentOf: (meter) => ledger.sumSpending({ keyId: meter.replace("key:", "") }),
    });
    const holdBook = new LeasedHoldBook({
      leases: bank.register("gateway_a"),
      store: ledger,
      clock: systemClock,
    });
    return { holdBook, ledger, usage: new SqliteUsageStore(database) };
  });
});
