import { describe } from "bun:test";
import type { Transfer } from "../../../src/core/ledger/records/records.ts";
import type { Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { PostgresLedgerStore } from "../../../src/storage/postgres/ledger/ledger-store.ts";
import { writeTransfer } from "../../../src/storage/postgres/ledger/transfers.ts";
import { PostgresRetention } from "../../../src/storage/postgres/usage/retention.ts";
import { PostgresRollUp } from "../../../src/storage/postgres/usage/roll-up.ts";
import { PostgresUsageStore } from "../../../src/storage/postgres/usage/usage-store.ts";
import { ON_POSTGRES } from "../../support/databases/test-databases.ts";
import { testConcurrentWriters } from "../contracts/concurrent-writers.ts";
import { testBudgetStore } from "../contracts/money/budget-store.ts";
import { testCreditChanges } from "../contracts/money/credit-changes.ts";
import { testGenerationList } from "../contracts/money/generation-list.ts";
import { testHourlyUsage } from "../contracts/money/hourly-usage.ts";
import { testLedgerStore } from "../contracts/money/ledger-store.ts";
import { testUsageStore } from "../contracts/money/usage-store.ts";
import { testRetention } from "../contracts/retention.ts";
import { openSqlStores, usePostgres } from "./databases.ts";

describe.skipIf(!ON_POSTGRES)("PostgreSQL", () => {
  const connect = usePostgres();
  testUsageStore(() => new PostgresUsageStore({ database: connect() }));
  testGenerationList(
    () => new PostgresUsageStore({ database: connect() }),
    () => openSqlStores(connect()),
  );
  const connectStores = () => {
    const database = connect();
    const ledger = new PostgresLedgerStore({ database, maintenance: database });
    return { ledger, usage: new PostgresUsageStore({ database }) };
  };
  testLedgerStore(connectStores);
  testConcurrentWriters(connectStores);
  testRetention(() => {
    const database = connect();
    const ledger = new PostgresLedgerStore({ database, maintenance: database });
    return {
      ledger,
      usage: new PostgresUsageStore({ database }),
      retention: new PostgresRetention(database),
      listTags: async () => {
        const rows = await database.run<{ tag: string }>("SELECT tag FROM generation_tags ORDER BY tag, id");
        return rows.map(({ tag }) => tag);
      },
    };
  });
  testHourlyUsage(() => {
    const database = connect();
    return {
      ledger: new PostgresLedgerStore({ database, maintenance: database }),
      usage: new PostgresUsageStore({ database }),
      keys: openSqlStores(database).keys,
      rollUp: new PostgresRollUp(database),
      run: async (text) => void (await database.run(text)),
      reopen: () => new PostgresUsageStore({ database }),
    };
  });
  testBudgetStore(() => {
    const database = connect();
    const { budgets, keys } = openSqlStores(database);
    return { budgets, keys, usage: new PostgresUsageStore({ database }) };
  });
  testCreditChanges(() => {
    const database = connect();
    const ledger = new PostgresLedgerStore({ database, maintenance: database });
    return { ledger: ledger, begin: (transfer) => beginTransfer(database, transfer) };
  });
});

/** Begins a transaction that has its number, and so its place among the others, before it writes the transfer. */
async function beginTransfer(database: Postgres, transfer: Transfer): Promise<() => Promise<void>> {
  const begun = Promise.withResolvers<void>();
  const mayWrite = Promise.withResolvers<void>();
  const committed = database.transaction(async (sql) => {
    await sql.run("SELECT pg_current_xact_id()::text");
    begun.resolve();
    await mayWrite.promise;
    if (transfer.kind !== "usage") await writeTransfer(sql, transfer);
  });
  await begun.promise;
  return async () => {
    mayWrite.resolve();
    await committed;
    if (transfer.kind === "usage")
      await new PostgresLedgerStore({ database, maintenance: database }).addTransfer(transfer);
  };
}
