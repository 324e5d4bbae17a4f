import { Database } from "bun:sqlite";
import { buildServing } from "../../src/app/build-serving.ts";
import type { Config } from "../../src/app/config-schema.ts";
import { type Parts, type Stores, wireUp } from "../../src/app/wire-up.ts";
import type { Clock } from "../../src/base/clock.ts";
import { createIdSource } from "../../src/base/ids.ts";
import type { Log } from "../../src/base/log.ts";
import type { Random } from "../../src/base/random.ts";
import type { Transport } from "../../src/core/deployments/transport.ts";
import { recoverUsage } from "../../src/core/usage/recover-usage.ts";
import { createSandboxTransport } from "../../src/providers/sandbox/sandbox-transport.ts";
import { createFileCatalogStore } from "../../src/storage/files/catalog-store.ts";
import { guardStore } from "../../src/storage/guard-store.ts";
import { SqliteAccountStore } from "../../src/storage/sqlite/account-store.ts";
import { createSqliteAuditStore } from "../../src/storage/sqlite/audit-store.ts";
import { FileLeases } from "../../src/storage/sqlite/file-leases.ts";
import { SqliteKeyStore } from "../../src/storage/sqlite/key-store.ts";
import { SqliteLedgerStore } from "../../src/storage/sqlite/ledger-store.ts";
import { MIGRATIONS } from "../../src/storage/sqlite/migrations.ts";
import { createSqlitePromptLogStore } from "../../src/storage/sqlite/prompt-log-store.ts";
import { createSqliteProviderKeyStore } from "../../src/storage/sqlite/provider-key-store.ts";
import { createSqliteSettingsStore } from "../../src/storage/sqlite/settings-store.ts";
import { createSqliteStoredResponseStore } from "../../src/storage/sqlite/stored-response-store.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import {
  type Faults,
  type JournalFile,
  Life,
  type MortalJournal,
  mortalClock,
  mortalJournal,
  mortalStore,
} from "./mortal.ts";

/** What outlives a gateway's process, and what is around it. */
export interface Place {
  readonly database: Database;
  readonly journalFile: JournalFile;
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Transport;
  readonly config: Config;
  readonly faults: Faults;
  readonly chance: SeededRandom;
}

/** A gateway from its start to its end, whichever way it ends. */
export interface Service {
  readonly life: Life;
  readonly parts: Parts;
  readonly journal: MortalJournal;
}

/** An empty database in memory, with all tables. */
export function createDatabase(): Database {
  const database = new Database(":memory:", { strict: true });
  for (const migration of MIGRATIONS) database.exec(migration);
  return database;
}

/** The stores of a place as they are, without faults and without end. */
export function openPlainStores({
  database,
  clock,
  random,
}: Pick<Place, "database" | "clock" | "random">): Stores {
  return {
    keys: new SqliteKeyStore(database),
    accounts: new SqliteAccountStore(database),
    answers: createSqliteStoredResponseStore(database),
    audit: createSqliteAuditStore(database),
    // The simulation brings its own catalog.
    catalog: createFileCatalogStore("/nonexistent"),
    leases: new FileLeases("/nonexistent", clock),
    providerKeys: createSqliteProviderKeyStore(database),
    ledger: new SqliteLedgerStore(database),
    promptLog: createSqlitePromptLogStore(database),
    usage: new SqliteUsageStore(database),
    settings: createSqliteSettingsStore(database),
    clock,
    random,
    ids: createIdSource(clock, random),
    listDamagedLines: () => [],
    isGatewayRunning: async () => false,
    location: "memory",
    close() {},
  };
}

/**
 * Starts a gateway as `startGateway` does, but for the listening. `started` rejects where a fault kept it from starting,
 * and does not settle where it died over it.
 */
export function startService(place: Place): { life: Life; started: Promise<Service> } {
  const life = new Life();
  const clock = mortalClock(place.clock, life);
  const plain = openPlainStores(place);
  const { faults, chance } = place;
  const stores: Stores = {
    ...plain,
    clock,
    keys: guardStore(mortalStore(plain.keys, life, faults, chance)),
    accounts: guardStore(mortalStore(plain.accounts, life, faults, chance)),
    providerKeys: guardStore(mortalStore(plain.providerKeys, life, faults, chance)),
    ledger: guardStore(mortalStore(plain.ledger, life, faults, chance)),
    usage: guardStore(mortalStore(plain.usage, life, faults, chance)),
    settings: guardStore(mortalStore(plain.settings, life, faults, chance)),
  };
  const journal = mortalJournal(place.journalFile, life, faults, chance);
  const { config, random, transport } = place;
  const sandboxTransport = createSandboxTransport({ clock });
  const serving = buildServing(
    { source: "simulation", providers: [], models: [] },
    { config, environment: {}, clock, transport, sandboxTransport },
  );
  const start = async (): Promise<Service> => {
    const parts = await wireUp(config, {
      clock,
      random,
      log: SILENT,
      environment: {},
      transport,
      resources: {
        stores,
        journal,
        gatewayId: "gateway_simulated",
        serving: { current: () => serving, notices: [], async refresh() {} },
        release() {},
      },
    });
    const { gatewayId } = parts.http.generation;
    await recoverUsage({ journal, store: stores.usage, gatewayId, now: clock.now() });
    return { life, parts, journal };
  };
  return { life, started: start() };
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
