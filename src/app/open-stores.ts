import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { createIdSource } from "../base/ids.ts";
import type { Leases } from "../base/lease.ts";
import type { Random } from "../base/random.ts";
import type { AccountStore } from "../core/accounts/account-store.ts";
import type { KeyStores } from "../core/accounts/manage-keys.ts";
import type { AuditStore } from "../core/audit/audit-store.ts";
import type { CatalogStore } from "../core/catalog/catalog-store.ts";
import type { PromptLogStore } from "../core/extensions/prompt-log/prompt-log-store.ts";
import type { StoredResponseStore } from "../core/idempotency/stored-response-store.ts";
import type { LedgerStore } from "../core/ledger/ledger-store.ts";
import type { ProviderKeyStore } from "../core/provider-keys/provider-key-store.ts";
import type { SettingsStore } from "../core/settings/settings-store.ts";
import type { DamagedLines } from "../core/usage/journal.ts";
import type { UsageReports, UsageStore } from "../core/usage/usage-store.ts";
import { makePrivateFolder } from "../storage/files/private-files.ts";
import { guardStore } from "../storage/guard-store.ts";
import { listDamagedLines } from "../storage/journal/damaged-lines.ts";
import { SqliteAccountStore } from "../storage/sqlite/account-store.ts";
import { SqliteAuditStore } from "../storage/sqlite/audit-store.ts";
import { isDataDirLocked } from "../storage/sqlite/data-lock.ts";
import { openDatabase } from "../storage/sqlite/database.ts";
import { FileLeases } from "../storage/sqlite/file-leases.ts";
import { SqliteKeyStore } from "../storage/sqlite/key-store.ts";
import { SqliteLedgerStore } from "../storage/sqlite/ledger-store.ts";
import { SqlitePromptLogStore } from "../storage/sqlite/prompt-log-store.ts";
import { SqliteProviderKeyStore } from "../storage/sqlite/provider-key-store.ts";
import { createSqliteSettingsStore } from "../storage/sqlite/settings-store.ts";
import { createSqliteStoredResponseStore } from "../storage/sqlite/stored-response-store.ts";
import { SqliteUsageStore } from "../storage/sqlite/usage-store.ts";
import { openCatalogStore, type StoreConfig } from "./open-catalog-store.ts";

/** The stores behind the ports. */
export interface Stores extends KeyStores {
  readonly accounts: AccountStore;
  readonly answers: StoredResponseStore;
  readonly audit: AuditStore;
  readonly catalog: CatalogStore;
  readonly leases: Leases;
  readonly ledger: LedgerStore;
  readonly promptLog: PromptLogStore;
  readonly providerKeys: ProviderKeyStore;
  readonly settings: SettingsStore;
  readonly usage: UsageStore & UsageReports;
  /** Lists the damaged lines of the journal, which are kept in files of their own. */
  listDamagedLines(): readonly DamagedLines[];
  /** Returns whether a gateway runs on these stores. */
  isGatewayRunning(): Promise<boolean>;
  /** Names the stores in messages. */
  readonly location: string;
  close(): void;
}

/**
 * Opens the configured stores, and creates them if they do not exist. Gateway and commands open them here and nowhere else. Other
 * processes may have them open.
 */
export function openStores(config: StoreConfig, clock: Clock, random: Random): Stores {
  const dataDir = config.data_dir;
  makePrivateFolder(dataDir);
  const database = openDatabase(dataDir);
  return {
    keys: guardStore(new SqliteKeyStore(database)),
    accounts: guardStore(new SqliteAccountStore(database)),
    answers: guardStore(createSqliteStoredResponseStore(database)),
    audit: guardStore(new SqliteAuditStore(database)),
    catalog: openCatalogStore(config),
    leases: guardStore(new FileLeases(dataDir, clock)),
    ledger: guardStore(new SqliteLedgerStore(database)),
    promptLog: guardStore(new SqlitePromptLogStore(database)),
    providerKeys: guardStore(new SqliteProviderKeyStore(database)),
    usage: guardStore(new SqliteUsageStore(database)),
    settings: guardStore(createSqliteSettingsStore(database)),
    clock,
    random,
    ids: createIdSource(clock, random),
    listDamagedLines: () => listDamagedLines(journalDirOf(dataDir)),
    isGatewayRunning: async () => isDataDirLocked(dataDir),
    location: dataDir,
    close: () => database.close(),
  };
}

/** The folder of the journal in a data directory. */
export function journalDirOf(dataDir: string): string {
  return join(dataDir, "journal");
}
