import { describe } from "bun:test";
import { RECORD_BOUNDS } from "../../src/core/usage/generations/generation-list.ts";
import { RESPONSES_FILE } from "../../src/storage/sqlite/connection/database.ts";
import { SqliteLedgerStore } from "../../src/storage/sqlite/ledger/ledger-store.ts";
import { SqliteResponseStore } from "../../src/storage/sqlite/response-store.ts";
import { createSqliteStores } from "../../src/storage/sqlite/stores.ts";
import { SqliteRetention } from "../../src/storage/sqlite/usage/retention.ts";
import { SqliteRollUp } from "../../src/storage/sqlite/usage/roll-up.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage/usage-store.ts";
import { testAccountStore } from "./contracts/account-store.ts";
import { testAuditStore } from "./contracts/audit-store.ts";
import { testConcurrentWriters } from "./contracts/concurrent-writers.ts";
import { testConfigStore } from "./contracts/config-store.ts";
import { testConsoleSessionStore } from "./contracts/console-session-store.ts";
import { testDrainStore } from "./contracts/drain-store.ts";
import { testHealthHistoryStore } from "./contracts/health-history-store.ts";
import { testIdentityStore } from "./contracts/identity-store.ts";
import { testInvitationStore } from "./contracts/invitation-store.ts";
import { testKeyStore } from "./contracts/key-store.ts";
import { testBudgetStore } from "./contracts/money/budget-store.ts";
import { testCreditChanges } from "./contracts/money/credit-changes.ts";
import { testGenerationList } from "./contracts/money/generation-list.ts";
import { testHourlyUsage } from "./contracts/money/hourly-usage.ts";
import { testLedgerStore } from "./contracts/money/ledger-store.ts";
import { testUsageStore } from "./contracts/money/usage-store.ts";
import { testNamedRouteStore } from "./contracts/named-route-store.ts";
import { testOidcTrialStore } from "./contracts/oidc-trial-store.ts";
import { testPromptLogStore } from "./contracts/prompt-log-store.ts";
import { testProviderKeyStore } from "./contracts/provider-key-store.ts";
import { testRejectionStore } from "./contracts/rejection-store.ts";
import { testResponseStore } from "./contracts/response-store.ts";
import { testRetention } from "./contracts/retention.ts";
import { testSettingsStore } from "./contracts/settings-store.ts";
import { testStoredResponseStore } from "./contracts/stored-response-store.ts";
import { testTeamStore } from "./contracts/team-store.ts";
import { useSqlite } from "./sqlite-connections.ts";

describe("SQLite", () => {
  const connectResponses = useSqlite(RESPONSES_FILE);
  testResponseStore(() => new SqliteResponseStore(connectResponses()));
  const connect = useSqlite();
  testAccountStore(() => createSqliteStores(connect()).accounts);
  testKeyStore(() => createSqliteStores(connect()).keys);
  testInvitationStore(() => createSqliteStores(connect()));
  testTeamStore(() => createSqliteStores(connect()));
  testProviderKeyStore(() => createSqliteStores(connect()).providerKeys);
  testPromptLogStore(() => createSqliteStores(connect()).promptLog);
  testRejectionStore(() => createSqliteStores(connect()).rejections);
  testSettingsStore(() => createSqliteStores(connect()).settings);
  testConfigStore(() => createSqliteStores(connect()).config);
  testDrainStore(() => createSqliteStores(connect()).drains);
  testHealthHistoryStore(() => createSqliteStores(connect()).healthHistory);
  testNamedRouteStore(() => createSqliteStores(connect()).namedRoutes);
  testUsageStore(() => new SqliteUsageStore(connect()));
  testGenerationList(
    () => new SqliteUsageStore(connect(), RECORD_BOUNDS),
    () => createSqliteStores(connect()),
  );
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
      keys: createSqliteStores(database).keys,
      rollUp: new SqliteRollUp(database),
      run: async (text) => void database.exec(text),
      reopen: () => new SqliteUsageStore(database),
    };
  });
  testBudgetStore(() => {
    const database = connect();
    const { budgets, keys } = createSqliteStores(database);
    return { budgets, keys, usage: new SqliteUsageStore(database) };
  });
  testCreditChanges(() => {
    const ledger = new SqliteLedgerStore(connect());
    return { ledger, begin: async (transfer) => async () => void (await ledger.addTransfer(transfer)) };
  });
  testAuditStore(() => createSqliteStores(connect()).audit);
  testConsoleSessionStore(() => {
    const database = connect();
    return {
      sessions: createSqliteStores(database).consoleSessions,
      keys: createSqliteStores(database).keys,
    };
  });
  testIdentityStore(() => createSqliteStores(connect()).identities);
  testOidcTrialStore(() => createSqliteStores(connect()).oidcTrials);
  testStoredResponseStore(() => createSqliteStores(connect()).answers);
});
