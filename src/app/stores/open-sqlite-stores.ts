import { createIdSource } from "../../base/secrets/ids.ts";
import { LOCAL_CHANGES } from "../../core/gateways/change-source.ts";
import { type GatewayRegistry, SOLE_GATEWAY } from "../../core/gateways/gateway-registry.ts";
import type { UsageStore } from "../../core/usage/reports/usage-store.ts";
import { createFileCatalogStore } from "../../storage/files/catalog-store.ts";
import { guardStore, guardStores } from "../../storage/guard-store.ts";
import { listDamagedLines } from "../../storage/journal/damaged-lines.ts";
import { isDataDirLocked } from "../../storage/sqlite/connection/data-lock.ts";
import { openDatabase, RESPONSES_FILE } from "../../storage/sqlite/connection/database.ts";
import { repeatWhileBusy } from "../../storage/sqlite/connection/repeat-busy.ts";
import { FileLeases } from "../../storage/sqlite/file-leases.ts";
import { SqliteResponseStore } from "../../storage/sqlite/response-store.ts";
import { createSqliteStores, type SqliteStores } from "../../storage/sqlite/stores.ts";
import { createThreadedStores } from "../../storage/sqlite/threads/threaded-stores.ts";
import type { StoreConfig } from "../catalog/open-catalog-store.ts";
import { journalDirOf, type StorePlatform, type Stores } from "./stores.ts";

/** Opens the stores of a data directory: in threads if the platform has them, otherwise in this thread. Creates missing files. */
export function openSqliteStores(
  { data_dir: dataDir }: Pick<StoreConfig, "data_dir">,
  platform: StorePlatform,
): Stores {
  const { clock, random } = platform;
  const { stores, close } = open(dataDir, platform);
  const repeat = repeatWhileBusy(clock);
  const guarded = guardStores(stores, repeat);
  return {
    ...guarded,
    ...createSoleGateway(guarded.usage),
    catalog: createFileCatalogStore(dataDir),
    leases: guardStore(new FileLeases(dataDir, clock)),
    clock,
    random,
    ids: createIdSource(clock, random),
    listDamagedLines: () => listDamagedLines(journalDirOf(dataDir)),
    isGatewayRunning: async () => isDataDirLocked(dataDir),
    location: dataDir,
    schema: null,
    close,
  };
}

/** Open stores, and what closes them. */
interface OpenStores {
  readonly stores: SqliteStores;
  close(): Promise<void>;
}

function open(
  dataDir: string,
  { clock, databaseClock = clock, startStoreThread }: StorePlatform,
): OpenStores {
  if (startStoreThread !== undefined)
    return createThreadedStores({ dataDir, clock: databaseClock, start: startStoreThread });
  const database = openDatabase(dataDir);
  const responses = openDatabase(dataDir, RESPONSES_FILE);
  return {
    stores: { ...createSqliteStores(database), responses: new SqliteResponseStore(responses) },
    async close() {
      responses.close();
      database.close();
    },
  };
}

/** The trivial parts of the stores for a single gateway. */
export function createSoleGateway(
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

/** The registry of a store that only one gateway uses at a time: it stores nothing, because the data directory's lock says it all. */
function createSoleRegistry(): GatewayRegistry {
  return {
    register: async ({ id }) => ({ id, epoch: 1 }),
    renew: async () => SOLE_GATEWAY,
    putRedisId: async () => {},
    putConfig: async () => {},
    end: async () => {},
    list: async () => [],
    takeOver: async () => null,
    releaseLeases: async () => null,
  };
}
