import { Database } from "bun:sqlite";
import type { Config } from "../../src/app/config/config-schema.ts";
import { buildServing } from "../../src/app/serving/build-serving.ts";
import { type Parts, wireUp } from "../../src/app/start/wire-up.ts";
import { createSoleGateway } from "../../src/app/stores/open-sqlite-stores.ts";
import type { Stores } from "../../src/app/stores/stores.ts";
import type { Log } from "../../src/base/failures/log.ts";
import { createIdSource } from "../../src/base/secrets/ids.ts";
import type { Random } from "../../src/base/secrets/random.ts";
import type { Clock } from "../../src/base/time/clock.ts";
import { type Transport, TransportError } from "../../src/core/deployments/transport.ts";
import { recoverUsage } from "../../src/core/usage/journal/recover-usage.ts";
import { createSandboxTransport } from "../../src/providers/sandbox/sandbox-transport.ts";
import { createFileCatalogStore } from "../../src/storage/files/catalog-store.ts";
import { guardStore } from "../../src/storage/guard-store.ts";
import { FileLeases } from "../../src/storage/sqlite/file-leases.ts";
import { MIGRATIONS } from "../../src/storage/sqlite/migrations/list.ts";
import type { SqliteMigration } from "../../src/storage/sqlite/migrations/migration.ts";
import { RESPONSE_MIGRATIONS } from "../../src/storage/sqlite/migrations/responses/list.ts";
import { SqliteResponseStore } from "../../src/storage/sqlite/response-store.ts";
import { createSqliteStores } from "../../src/storage/sqlite/stores.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import {
  clockOfRun,
  type Faults,
  type FaultyJournal,
  faultyJournal,
  faultyStore,
  type JournalFile,
  ProcessRun,
} from "./process-run.ts";

/** What survives a gateway process, and its environment. */
export interface Place {
  readonly database: Database;
  /** Response objects. */
  readonly responseDatabase: Database;
  readonly journalFile: JournalFile;
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Transport;
  readonly config: Config;
  readonly faults: Faults;
  readonly chance: SeededRandom;
}

/** A running gateway. */
export interface Service {
  readonly run: ProcessRun;
  readonly parts: Parts;
  readonly journal: FaultyJournal;
}

/** Creates empty databases in memory, with all tables. */
export function createDatabases(): Pick<Place, "database" | "responseDatabase"> {
  return { database: openMemory(MIGRATIONS), responseDatabase: openMemory(RESPONSE_MIGRATIONS) };
}

function openMemory(steps: readonly SqliteMigration[]): Database {
  const database = new Database(":memory:", { strict: true });
  for (const { sql } of steps) database.exec(sql);
  return database;
}

/** Returns the stores of a place without faults, which outlast a process. */
export function openPlainStores({
  database,
  responseDatabase,
  clock,
  random,
}: Pick<Place, "database" | "responseDatabase" | "clock" | "random">): Stores {
  const stores = createSqliteStores(database);
  return {
    ...stores,
    responses: new SqliteResponseStore(responseDatabase),
    ...createSoleGateway(stores.usage),
    // The simulation has its own catalog.
    catalog: createFileCatalogStore("/nonexistent"),
    leases: new FileLeases("/nonexistent", clock),
    clock,
    random,
    ids: createIdSource(clock, random),
    listDamagedLines: () => [],
    isGatewayRunning: async () => false,
    schema: null,
    location: "memory",
    async close() {},
  };
}

/**
 * Starts a gateway as `startGateway` does, without listening. `started` rejects if a fault prevents the start, and does not settle
 * if the process ends during the start.
 */
export function startService(place: Place): { run: ProcessRun; started: Promise<Service> } {
  const run = new ProcessRun();
  const clock = clockOfRun(place.clock, run);
  const plain = openPlainStores(place);
  const { faults, chance } = place;
  const stores: Stores = {
    ...plain,
    clock,
    keys: guardStore(faultyStore(plain.keys, run, faults, chance)),
    accounts: guardStore(faultyStore(plain.accounts, run, faults, chance)),
    providerKeys: guardStore(faultyStore(plain.providerKeys, run, faults, chance)),
    ledger: guardStore(faultyStore(plain.ledger, run, faults, chance)),
    usage: guardStore(faultyStore(plain.usage, run, faults, chance)),
    settings: guardStore(faultyStore(plain.settings, run, faults, chance)),
    responses: guardStore(faultyStore(plain.responses, run, faults, chance)),
  };
  const journal = faultyJournal(place.journalFile, run, faults, chance);
  const { config, random } = place;
  const transport = transportOfRun(place.transport, run);
  const sandboxTransport = createSandboxTransport({ clock });
  const serving = buildServing(
    { source: "simulation", providers: [], models: [], families: [] },
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
        serving: { current: () => serving, notices: [], async refresh() {}, prepare: neverPrepared },
        async release() {},
      },
    });
    const { gatewayId } = parts.http.generation;
    await recoverUsage({ journal, store: stores.usage, gatewayId, now: clock.now() });
    await parts.http.features.responses.jobs.failOwn();
    return { run, parts, journal };
  };
  return { run, started: start() };
}

/** Returns a transport that calls no vendor after its process has ended. */
function transportOfRun(transport: Transport, run: ProcessRun): Transport {
  return {
    open(request) {
      if (run.isOver) throw new TransportError("reset", "the process has ended");
      return transport.open(request);
    },
    close() {},
  };
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** No test of this kind reloads the configuration. */
function neverPrepared(): never {
  throw new Error("the served models do not change");
}
