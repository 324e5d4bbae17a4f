import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Clock } from "../../base/time/clock.ts";
import type { AuditStore } from "../../core/audit/audit-store.ts";
import type { CatalogStore } from "../../core/catalog/refresh/catalog-store.ts";
import type { LedgerStore } from "../../core/ledger/records/ledger-store.ts";
import type { StorageDump } from "../../core/storage-copy/storage-dump.ts";
import type { UsageStore } from "../../core/usage/reports/usage-store.ts";
import { createFileCatalogStore } from "../../storage/files/catalog-store.ts";
import { makePrivateFolder } from "../../storage/files/private-files.ts";
import { PostgresCatalogStore } from "../../storage/postgres/catalog-store.ts";
import { connectPostgres } from "../../storage/postgres/connection/client.ts";
import { nameDatabase } from "../../storage/postgres/connection/database-url.ts";
import { createPostgresDatabase } from "../../storage/postgres/connection/sql-database.ts";
import { PostgresDump } from "../../storage/postgres/dump.ts";
import { PostgresLedgerStore } from "../../storage/postgres/ledger/ledger-store.ts";
import { migratePostgres } from "../../storage/postgres/migrations/migrate.ts";
import { PostgresUsageStore } from "../../storage/postgres/usage/usage-store.ts";
import { SqlAuditStore } from "../../storage/sql/audit-store.ts";
import { isDataDirLocked, lockDataDir } from "../../storage/sqlite/connection/data-lock.ts";
import { openDatabase, RESPONSES_FILE } from "../../storage/sqlite/connection/database.ts";
import { createSqliteDatabase } from "../../storage/sqlite/connection/sql-database.ts";
import { SqliteDump } from "../../storage/sqlite/dump.ts";
import { SqliteLedgerStore } from "../../storage/sqlite/ledger/ledger-store.ts";
import { compareSchema, readSchema } from "../../storage/sqlite/migrations/migrate.ts";
import { SqliteUsageStore } from "../../storage/sqlite/usage/usage-store.ts";
import { journalDirOf } from "../stores/stores.ts";

/** A store that is copied from or to. */
export interface OpenStorage {
  readonly kind: "sqlite" | "postgres";
  readonly dump: StorageDump;
  readonly audit: AuditStore;
  readonly catalog: CatalogStore;
  readonly ledger: LedgerStore;
  readonly usage: UsageStore;
  close(): Promise<void>;
}

/** Which store to open. */
interface StorageLocation {
  /** A data directory, or the URL of a PostgreSQL database. */
  readonly place: string;
  /** Whether connections go through PgBouncer in transaction mode. */
  readonly isPooled: boolean;
  /** Whether the store must exist already. */
  readonly mustExist: boolean;
}

/** The longest time for one statement. Milliseconds. */
const STATEMENT_MS = 600_000;

/** Returns whether a place is the URL of a PostgreSQL database. */
export function isPostgresUrl(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

/**
 * Opens a store for a copy, with the tables of this version. A data directory is locked, so that no gateway starts on it.
 * @throws Error if the store does not exist, is used by a gateway, or has tables of a newer version. A gateway could still run on such
 * tables, but a copy would lack what this version does not know.
 */
export function openStorage(location: StorageLocation, clock: Clock): Promise<OpenStorage> {
  return isPostgresUrl(location.place) ? openPostgres(location, clock) : openSqlite(location);
}

async function openSqlite({ place, mustExist }: StorageLocation): Promise<OpenStorage> {
  const dataDir = resolve(place);
  if (mustExist && !existsSync(join(dataDir, "gateway.db")))
    throw new Error(`${dataDir} is not a data directory: it has no gateway.db`);
  makePrivateFolder(dataDir);
  if (isDataDirLocked(dataDir)) throw new Error(`a gateway is running on ${dataDir}; stop it first`);
  const lock = lockDataDir(dataDir);
  const [database, responses] = [openDatabase(dataDir), openDatabase(dataDir, RESPONSES_FILE)];
  const close = (): void => {
    for (const one of [responses, database]) one.close();
    lock.release();
  };
  const isNewer =
    compareSchema(readSchema(database)) === "newer" ||
    compareSchema(readSchema(responses), RESPONSES_FILE.steps.length) === "newer";
  if (isNewer) {
    close();
    throw createNewerTablesError(dataDir);
  }
  const findObstacle = () => findJournal(dataDir);
  return {
    kind: "sqlite",
    dump: new SqliteDump({ database, responses, location: dataDir, findObstacle }),
    audit: new SqlAuditStore(createSqliteDatabase(database)),
    catalog: createFileCatalogStore(dataDir),
    ledger: new SqliteLedgerStore(database),
    usage: new SqliteUsageStore(database),
    close: async () => close(),
  };
}

function createNewerTablesError(location: string): Error {
  return new Error(
    `${location} has the tables of a newer version of the gateway, and a copy by this one would be incomplete; install that version`,
  );
}

/** Returns an obstacle if the journal of a data directory has entries. */
function findJournal(dataDir: string): string | null {
  const journal = journalDirOf(dataDir);
  const files = existsSync(journal) ? readdirSync(journal).filter((name) => name.endsWith(".log")) : [];
  return files.every((name) => statSync(join(journal, name)).size === 0)
    ? null
    : "its journal has records that are not saved. Start the gateway once and stop it";
}

async function openPostgres({ place: url, isPooled }: StorageLocation, clock: Clock): Promise<OpenStorage> {
  const location = nameDatabase(url);
  const database = connectPostgres({ url, maxConnections: 2, isPooled, clock, statementMs: STATEMENT_MS });
  const { version, known } = await migratePostgres(database).catch(async (error) => {
    await database.close();
    throw new Error(`the database ${location} cannot be used: ${(error as Error).message}`, { cause: error });
  });
  if (version > known) {
    await database.close();
    throw createNewerTablesError(location);
  }
  const shared = createPostgresDatabase(database);
  return {
    kind: "postgres",
    dump: new PostgresDump({ database, location }),
    audit: new SqlAuditStore(shared),
    catalog: new PostgresCatalogStore(shared),
    ledger: new PostgresLedgerStore({ database, maintenance: database }),
    usage: new PostgresUsageStore({ database }),
    close: () => database.close(),
  };
}
