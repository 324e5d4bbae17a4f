import { createIdSource } from "../base/ids.ts";
import { LOCAL_CHANGES } from "../core/gateways/change-source.ts";
import { createSoleRegistry } from "../core/gateways/sole-gateway.ts";
import type { UsageStore } from "../core/usage/usage-store.ts";
import { createFileCatalogStore } from "../storage/files/catalog-store.ts";
import { guardStore } from "../storage/guard-store.ts";
import { listDamagedLines } from "../storage/journal/damaged-lines.ts";
import { SqliteAccountStore } from "../storage/sqlite/account-store.ts";
import { SqliteAuditStore } from "../storage/sqlite/audit-store.ts";
import { SqliteBudgetStore } from "../storage/sqlite/budget-store.ts";
import { SqliteConsoleSessionStore } from "../storage/sqlite/console-session-store.ts";
import { isDataDirLocked } from "../storage/sqlite/data-lock.ts";
import { openDatabase } from "../storage/sqlite/database.ts";
import { SqliteDrainStore } from "../storage/sqlite/drain-store.ts";
import { FileLeases } from "../storage/sqlite/file-leases.ts";
import { createSqliteIdentityStore } from "../storage/sqlite/identity-store.ts";
import { SqliteKeyStore } from "../storage/sqlite/key-store.ts";
import { SqliteLedgerStore } from "../storage/sqlite/ledger-store.ts";
import { SqliteNamedRouteStore } from "../storage/sqlite/named-route-store.ts";
import { SqlitePromptLogStore } from "../storage/sqlite/prompt-log-store.ts";
import { SqliteProviderKeyStore } from "../storage/sqlite/provider-key-store.ts";
import { repeatWhileBusy } from "../storage/sqlite/repeat-busy.ts";
import { SqliteRetention } from "../storage/sqlite/retention.ts";
import { SqliteRollUp } from "../storage/sqlite/roll-up.ts";
import { createSqliteSettingsStore } from "../storage/sqlite/settings-store.ts";
import { createSqliteStoredResponseStore } from "../storage/sqlite/stored-response-store.ts";
import { SqliteTierStore } from "../storage/sqlite/tier-store.ts";
import { SqliteUsageStore } from "../storage/sqlite/usage-store.ts";
import type { StoreConfig } from "./open-catalog-store.ts";
import { journalDirOf, type StorePlatform, type Stores } from "./stores.ts";

/** Opens the stores of a data directory. Creates what does not exist. */
export function openSqliteStores(
  { data_dir: dataDir }: Pick<StoreConfig, "data_dir">,
  { clock, random }: StorePlatform,
): Stores {
  const database = openDatabase(dataDir);
  const repeat = repeatWhileBusy(clock);
  const guard = <Store extends object>(store: Store): Store => guardStore(store, repeat);
  const usage = guard(new SqliteUsageStore(database));
  return {
    ...soleGateway(usage),
    keys: guard(new SqliteKeyStore(database)),
    accounts: guard(new SqliteAccountStore(database)),
    answers: guard(createSqliteStoredResponseStore(database)),
    budgets: guard(new SqliteBudgetStore(database)),
    audit: guard(new SqliteAuditStore(database)),
    identities: guard(createSqliteIdentityStore(database)),
    consoleSessions: guard(new SqliteConsoleSessionStore(database)),
    catalog: createFileCatalogStore(dataDir),
    leases: guardStore(new FileLeases(dataDir, clock)),
    ledger: guard(new SqliteLedgerStore(database)),
    namedRoutes: guard(new SqliteNamedRouteStore(database)),
    promptLog: guard(new SqlitePromptLogStore(database)),
    providerKeys: guard(new SqliteProviderKeyStore(database)),
    retention: guard(new SqliteRetention(database)),
    rollUp: guard(new SqliteRollUp(database)),
    usage,
    settings: guard(createSqliteSettingsStore(database)),
    drains: guard(new SqliteDrainStore(database)),
    tiers: guard(new SqliteTierStore(database)),
    clock,
    random,
    ids: createIdSource(clock, random),
    listDamagedLines: () => listDamagedLines(journalDirOf(dataDir)),
    isGatewayRunning: async () => isDataDirLocked(dataDir),
    location: dataDir,
    close: async () => database.close(),
  };
}

/** What is trivial in the stores of one gateway. */
export function soleGateway(
  usage: UsageStore,
): Pick<Stores, "gateways" | "changes" | "isShared" | "moneyLeases" | "actAs" | "usageOf"> {
  return {
    moneyLeases: null,
    gateways: createSoleRegistry(),
    changes: LOCAL_CHANGES,
    isShared: false,
    actAs() {},
    usageOf: () => usage,
  };
}
