import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { createIdSource } from "../base/ids.ts";
import type { Leases } from "../base/lease.ts";
import type { Random } from "../base/random.ts";
import { StoreError } from "../base/store-error.ts";
import type { AccountStore } from "../core/accounts/account-store.ts";
import type { KeyStores } from "../core/accounts/manage-keys.ts";
import type { AuditStore } from "../core/audit/audit-store.ts";
import type { CatalogStore } from "../core/catalog/catalog-store.ts";
import type { PromptLogStore } from "../core/extensions/prompt-log/prompt-log-store.ts";
import { type ChangeSource, LOCAL_CHANGES } from "../core/gateways/change-source.ts";
import type { GatewayIdentity } from "../core/gateways/gateway-identity.ts";
import type { GatewayRegistry } from "../core/gateways/gateway-registry.ts";
import { createSoleRegistry } from "../core/gateways/sole-gateway.ts";
import type { StoredResponseStore } from "../core/idempotency/stored-response-store.ts";
import type { LedgerStore } from "../core/ledger/ledger-store.ts";
import type { MoneyLeases } from "../core/ledger/money-leases.ts";
import type { ProviderKeyStore } from "../core/provider-keys/provider-key-store.ts";
import type { SettingsStore } from "../core/settings/settings-store.ts";
import type { DamagedLines } from "../core/usage/journal.ts";
import type { UsageRetention } from "../core/usage/retention.ts";
import type { GenerationList, UsageReports, UsageStore } from "../core/usage/usage-store.ts";
import { createFileCatalogStore } from "../storage/files/catalog-store.ts";
import { makePrivateFolder } from "../storage/files/private-files.ts";
import { guardStore } from "../storage/guard-store.ts";
import { listDamagedLines } from "../storage/journal/damaged-lines.ts";
import { PostgresAccountStore } from "../storage/postgres/account-store.ts";
import { PostgresAuditStore } from "../storage/postgres/audit-store.ts";
import { PostgresCatalogStore } from "../storage/postgres/catalog-store.ts";
import { PostgresChanges } from "../storage/postgres/changes.ts";
import { connectPostgres, type Postgres } from "../storage/postgres/client.ts";
import { PostgresGatewayRegistry } from "../storage/postgres/gateway-registry.ts";
import { PostgresKeyStore } from "../storage/postgres/key-store.ts";
import { PostgresLeases } from "../storage/postgres/leases.ts";
import { PostgresLedgerStore } from "../storage/postgres/ledger-store.ts";
import { migrateDatabase, requireSchema } from "../storage/postgres/migrate.ts";
import { PostgresMoneyLeases } from "../storage/postgres/money-leases.ts";
import { PostgresPromptLogStore } from "../storage/postgres/prompt-log-store.ts";
import { PostgresProviderKeyStore } from "../storage/postgres/provider-key-store.ts";
import { PostgresRetention } from "../storage/postgres/retention.ts";
import { PostgresSettingsStore } from "../storage/postgres/settings-store.ts";
import { PostgresStoredResponseStore } from "../storage/postgres/stored-response-store.ts";
import { PostgresUsageStore } from "../storage/postgres/usage-store.ts";
import { SqliteAccountStore } from "../storage/sqlite/account-store.ts";
import { SqliteAuditStore } from "../storage/sqlite/audit-store.ts";
import { isDataDirLocked } from "../storage/sqlite/data-lock.ts";
import { migrateDataDir, openDatabase } from "../storage/sqlite/database.ts";
import { FileLeases } from "../storage/sqlite/file-leases.ts";
import { SqliteKeyStore } from "../storage/sqlite/key-store.ts";
import { SqliteLedgerStore } from "../storage/sqlite/ledger-store.ts";
import { SqlitePromptLogStore } from "../storage/sqlite/prompt-log-store.ts";
import { SqliteProviderKeyStore } from "../storage/sqlite/provider-key-store.ts";
import { repeatWhileBusy } from "../storage/sqlite/repeat-busy.ts";
import { SqliteRetention } from "../storage/sqlite/retention.ts";
import { createSqliteSettingsStore } from "../storage/sqlite/settings-store.ts";
import { createSqliteStoredResponseStore } from "../storage/sqlite/stored-response-store.ts";
import { SqliteUsageStore } from "../storage/sqlite/usage-store.ts";
import type { StoreConfig } from "./open-catalog-store.ts";

/** The stores behind the ports. */
export interface Stores extends KeyStores {
  readonly accounts: AccountStore;
  readonly answers: StoredResponseStore;
  readonly audit: AuditStore;
  readonly catalog: CatalogStore;
  readonly leases: Leases;
  readonly ledger: LedgerStore;
  /** The leases of money of this gateway, usable after `actAs`; null if no other gateway spends from the stores. */
  readonly moneyLeases: MoneyLeases | null;
  readonly promptLog: PromptLogStore;
  readonly providerKeys: ProviderKeyStore;
  readonly settings: SettingsStore;
  readonly retention: UsageRetention;
  readonly usage: UsageStore & UsageReports & GenerationList;
  readonly gateways: GatewayRegistry;
  readonly changes: ChangeSource;
  /** Whether several gateways may use the stores at the same time. */
  readonly isShared: boolean;
  /** Makes every save of records and every borrow of money name a gateway. Call it when the gateway has registered. */
  actAs(identity: GatewayIdentity): void;
  /** Returns the usage store for records of a gateway that this process has taken over. */
  usageOf(identity: GatewayIdentity): UsageStore;
  /** Lists the damaged lines of the journal, which are kept in files of their own. */
  listDamagedLines(): readonly DamagedLines[];
  /** Returns whether a gateway runs on these stores. */
  isGatewayRunning(): Promise<boolean>;
  /** Names the stores in messages. */
  readonly location: string;
  close(): Promise<void>;
}

/** What stores take from outside the process. */
export interface StorePlatform {
  readonly clock: Clock;
  readonly random: Random;
  /** Measures how long calls of a database take, for tests that control `clock`. Defaults to `clock`. */
  readonly databaseClock?: Clock;
}

/** What `migrateStores` has done. */
export interface StoreMigration {
  /** The steps that were applied, in order. */
  readonly applied: readonly string[];
  /** Names the stores in messages. */
  readonly location: string;
}

/**
 * Creates or changes the tables of the configured database as this version of the gateway needs them. Several processes may call it at
 * the same time. Every start calls it.
 * @throws Error if a newer version of the gateway has migrated the database, or if it is unavailable.
 */
export async function migrateStores(
  config: StoreConfig,
  { clock, databaseClock = clock }: Pick<StorePlatform, "clock" | "databaseClock">,
): Promise<StoreMigration> {
  const { url, pooled } = config.database;
  if (url === undefined) {
    const { before, after } = migrateDataDir(config.data_dir);
    const applied = Array.from({ length: after - before }, (_, index) => `step ${before + index + 1}`);
    return { applied, location: config.data_dir };
  }
  const migration = migrateDatabase({ url, isPooled: pooled, clock: databaseClock });
  const { applied } = await migration.catch((error) => explainDatabaseFailure(error, url));
  return { applied, location: nameDatabase(url) };
}

/**
 * Opens the configured stores: of PostgreSQL if `database.url` is set, else of SQLite. Gateway and commands open them here and nowhere
 * else. Other processes may have them open. SQLite's are created if they do not exist.
 * @throws Error if the database does not have the tables of this version, or is unavailable.
 */
export async function openStores(config: StoreConfig, platform: StorePlatform): Promise<Stores> {
  makePrivateFolder(config.data_dir);
  const { url } = config.database;
  return url === undefined ? openSqliteStores(config, platform) : openPostgresStores(config, url, platform);
}

function openSqliteStores({ data_dir: dataDir }: StoreConfig, { clock, random }: StorePlatform): Stores {
  const database = openDatabase(dataDir);
  const repeat = repeatWhileBusy(clock);
  const guard = <Store extends object>(store: Store): Store => guardStore(store, repeat);
  const usage = guard(new SqliteUsageStore(database));
  return {
    ...soleGateway(usage),
    keys: guard(new SqliteKeyStore(database)),
    accounts: guard(new SqliteAccountStore(database)),
    answers: guard(createSqliteStoredResponseStore(database)),
    audit: guard(new SqliteAuditStore(database)),
    catalog: createFileCatalogStore(dataDir),
    leases: guardStore(new FileLeases(dataDir, clock)),
    ledger: guard(new SqliteLedgerStore(database)),
    promptLog: guard(new SqlitePromptLogStore(database)),
    providerKeys: guard(new SqliteProviderKeyStore(database)),
    retention: guard(new SqliteRetention(database)),
    usage,
    settings: guard(createSqliteSettingsStore(database)),
    clock,
    random,
    ids: createIdSource(clock, random),
    listDamagedLines: () => listDamagedLines(journalDirOf(dataDir)),
    isGatewayRunning: async () => isDataDirLocked(dataDir),
    location: dataDir,
    close: async () => database.close(),
  };
}

/** The longest time for one statement of a check or a deletion. Milliseconds. */
const MAINTENANCE_MS = 600_000;

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

/** The connections of a process to PostgreSQL. */
interface Connections {
  readonly database: Postgres;
  /** A connection whose statements may take minutes. */
  readonly maintenance: Postgres;
  close(): Promise<void>;
}

function connect(
  { database: { pooled, max_connections } }: StoreConfig,
  url: string,
  clock: Clock,
): Connections {
  const options = { url, isPooled: pooled, clock };
  const database = connectPostgres({ ...options, maxConnections: max_connections });
  const maintenance = connectPostgres({ ...options, maxConnections: 1, statementMs: MAINTENANCE_MS });
  return {
    database,
    maintenance,
    async close() {
      await maintenance.close();
      await database.close();
    },
  };
}

async function openPostgresStores(
  config: StoreConfig,
  url: string,
  { clock, random, databaseClock = clock }: StorePlatform,
): Promise<Stores> {
  const { database, maintenance, close } = connect(config, url, databaseClock);
  await requireSchema(database).catch(async (error) => {
    await close();
    return explainDatabaseFailure(error, url);
  });
  const dataDir = config.data_dir;
  const gateways = guardStore(new PostgresGatewayRegistry(database));
  const changes = new PostgresChanges(database, !config.database.pooled);
  let identity: GatewayIdentity | null = null;
  return {
    gateways,
    changes,
    isShared: true,
    actAs(own) {
      identity = own;
    },
    moneyLeases: guardStore(new PostgresMoneyLeases(database, () => requireIdentity(identity))),
    usageOf: (other) => guardStore(new PostgresUsageStore({ database, identity: () => other })),
    keys: guardStore(new PostgresKeyStore(database, changes)),
    accounts: guardStore(new PostgresAccountStore(database, changes)),
    answers: guardStore(new PostgresStoredResponseStore(database)),
    audit: guardStore(new PostgresAuditStore(database)),
    catalog: new PostgresCatalogStore(database, changes),
    leases: guardStore(new PostgresLeases(database)),
    ledger: guardStore(new PostgresLedgerStore({ database, maintenance })),
    promptLog: guardStore(new PostgresPromptLogStore(database)),
    providerKeys: guardStore(new PostgresProviderKeyStore(database, changes)),
    retention: guardStore(new PostgresRetention(maintenance)),
    usage: guardStore(new PostgresUsageStore({ database, identity: () => identity })),
    settings: guardStore(new PostgresSettingsStore(database)),
    clock,
    random,
    ids: createIdSource(clock, random),
    listDamagedLines: () => listDamagedLines(journalDirOf(dataDir)),
    isGatewayRunning: async () => (await gateways.list()).some(({ isLive }) => isLive),
    location: nameDatabase(url),
    async close() {
      await changes.close();
      await close();
    },
  };
}

function requireIdentity(identity: GatewayIdentity | null): GatewayIdentity {
  if (identity === null) throw new Error("the gateway has not registered, so it cannot borrow money");
  return identity;
}

/** Names a database in messages, without user and password. */
function nameDatabase(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

/** Throws an error that names the database; one about its tables as it is. */
function explainDatabaseFailure(error: unknown, url: string): never {
  if (!(error instanceof StoreError)) throw error;
  throw new Error(`the database ${nameDatabase(url)} cannot be used: ${error.message}`, { cause: error });
}

/** The folder of the journal in a data directory. */
export function journalDirOf(dataDir: string): string {
  return join(dataDir, "journal");
}
