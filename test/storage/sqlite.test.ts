import { describe } from "bun:test";
import { RECORD_BOUNDS } from "../../src/core/usage/generations/generation-list.ts";
import { SqliteAccountStore } from "../../src/storage/sqlite/account-store.ts";
import { SqliteAuditStore } from "../../src/storage/sqlite/audit-store.ts";
import { SqliteBudgetStore } from "../../src/storage/sqlite/budget-store.ts";
import { SqliteConsoleSessionStore } from "../../src/storage/sqlite/console-session-store.ts";
import { SqliteDrainStore } from "../../src/storage/sqlite/drain-store.ts";
import { createSqliteIdentityStore } from "../../src/storage/sqlite/identity-store.ts";
import { SqliteKeyStore } from "../../src/storage/sqlite/key-store.ts";
import { SqliteLedgerStore } from "../../src/storage/sqlite/ledger-store.ts";
import { SqliteNamedRouteStore } from "../../src/storage/sqlite/named-route-store.ts";
import { SqlitePromptLogStore } from "../../src/storage/sqlite/prompt-log-store.ts";
import { SqliteProviderKeyStore } from "../../src/storage/sqlite/provider-key-store.ts";
import { SqliteRetention } from "../../src/storage/sqlite/retention.ts";
import { SqliteRollUp } from "../../src/storage/sqlite/roll-up.ts";
import { createSqliteSettingsStore } from "../../src/storage/sqlite/settings-store.ts";
import { createSqliteStoredResponseStore } from "../../src/storage/sqlite/stored-response-store.ts";
import { SqliteTierStore } from "../../src/storage/sqlite/tier-store.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";
import { testAccountStore } from "./contracts/account-store.ts";
import { testAuditStore } from "./contracts/audit-store.ts";
import { testBudgetStore } from "./contracts/budget-store.ts";
import { testConcurrentWriters } from "./contracts/concurrent-writers.ts";
import { testConsoleSessionStore } from "./contracts/console-session-store.ts";
import { testCreditChanges } from "./contracts/credit-changes.ts";
import { testDrainStore } from "./contracts/drain-store.ts";
import { testGenerationList } from "./contracts/generation-list.ts";
import { testHourlyUsage } from "./contracts/hourly-usage.ts";
import { testIdentityStore } from "./contracts/identity-store.ts";
import { testKeyStore } from "./contracts/key-store.ts";
import { testLedgerStore } from "./contracts/ledger-store.ts";
import { testNamedRouteStore } from "./contracts/named-route-store.ts";
import { testPromptLogStore } from "./contracts/prompt-log-store.ts";
import { testProviderKeyStore } from "./contracts/provider-key-store.ts";
import { testRetention } from "./contracts/retention.ts";
import { testSettingsStore } from "./contracts/settings-store.ts";
import { testStoredResponseStore } from "./contracts/stored-response-store.ts";
import { testTierStore } from "./contracts/tier-store.ts";
import { testUsageStore } from "./contracts/usage-store.ts";
import { useSqlite } from "./sqlite-connections.ts";

describe("SQLite", () => {
  const connect = useSqlite();
  testAccountStore(() => new SqliteAccountStore(connect()));
  testKeyStore(() => new SqliteKeyStore(connect()));
  testProviderKeyStore(() => new SqliteProviderKeyStore(connect()));
  testPromptLogStore(() => new SqlitePromptLogStore(connect()));
  testSettingsStore(() => createSqliteSettingsStore(connect()));
  testDrainStore(() => new SqliteDrainStore(connect()));
  testNamedRouteStore(() => new SqliteNamedRouteStore(connect()));
  testTierStore(() => {
    const database = connect();
    return { tiers: new SqliteTierStore(database), settings: createSqliteSettingsStore(database) };
  });
  testUsageStore(() => new SqliteUsageStore(connect()));
  testGenerationList(() => new SqliteUsageStore(connect(), RECORD_BOUNDS));
  const connectStores = () => {
    const database = connect();
    return { ledger: new SqliteLedgerStore(database), usage: new SqliteUsageStore(database) };
  };
  testLedgerStore(connectStores);
  testConcurrentWriters(connectStores);
  testRetention(() => {
    const database = connect();
    const ledger = new SqliteLedgerStore(database);
    return {
      ledger,
      usage: new SqliteUsageStore(database),
      retention: new SqliteRetention(database),
      listTags: async () =>
        database
          .query<{ tag: string }, []>("SELECT tag FROM generation_tags ORDER BY tag, id")
          .all()
          .map(({ tag }) => tag),
    };
  });
  testHourlyUsage(() => {
    const database = connect();
    return {
      ledger: new SqliteLedgerStore(database),
      usage: new SqliteUsageStore(database),
      rollUp: new SqliteRollUp(database),
      run: async (text) => void database.exec(text),
      reopen: () => new SqliteUsageStore(database),
    };
  });
  testBudgetStore(() => {
    const database = connect();
    return { budgets: new SqliteBudgetStore(database), usage: new SqliteUsageStore(database) };
  });
  testCreditChanges(() => {
    const ledger = new SqliteLedgerStore(connect());
    return { ledger, begin: async (transfer) => async () => void (await ledger.addTransfer(transfer)) };
  });
  testAuditStore(() => new SqliteAuditStore(connect()));
  testConsoleSessionStore(() => {
    const database = connect();
    return { sessions: new SqliteConsoleSessionStore(database), keys: new SqliteKeyStore(database) };
  });
  testIdentityStore(() => createSqliteIdentityStore(connect()));
  testStoredResponseStore(() => createSqliteStoredResponseStore(connect()));
});
