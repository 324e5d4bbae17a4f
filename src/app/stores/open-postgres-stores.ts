import { StoreError } from "../../base/failures/store-error.ts";
import { createIdSource } from "../../base/secrets/ids.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { GatewayIdentity } from "../../core/gateways/gateway-identity.ts";
import { guardStore, guardStores } from "../../storage/guard-store.ts";
import { listDamagedLines } from "../../storage/journal/damaged-lines.ts";
import { PostgresCatalogStore } from "../../storage/postgres/catalog-store.ts";
import { PostgresChanges } from "../../storage/postgres/changes.ts";
import { connectPostgres, type Postgres, type SqlRunner } from "../../storage/postgres/connection/client.ts";
import { nameDatabase } from "../../storage/postgres/connection/database-url.ts";
import { createPostgresDatabase } from "../../storage/postgres/connection/sql-database.ts";
import { PostgresGatewayRegistry } from "../../storage/postgres/gateways/gateway-registry.ts";
import { PostgresLeases } from "../../storage/postgres/gateways/leases.ts";
import { PostgresMoneyLeases } from "../../storage/postgres/gateways/money-leases.ts";
import { PostgresLedgerStore } from "../../storage/postgres/ledger/ledger-store.ts";
import { requireSchema } from "../../storage/postgres/migrations/migrate.ts";
import { PostgresResponseStore } from "../../storage/postgres/responses/response-store.ts";
import { PostgresRetention } from "../../storage/postgres/usage/retention.ts";
import { PostgresRollUp } from "../../storage/postgres/usage/roll-up.ts";
import { PostgresUsageStore } from "../../storage/postgres/usage/usage-store.ts";
import { createSqlStores } from "../../storage/sql/stores.ts";
import type { StoreConfig } from "../catalog/open-catalog-store.ts";
import { journalDirOf, type StorePlatform, type Stores } from "./stores.ts";

/** The longest time for one statement of a check or a deletion. Milliseconds. */
const MAINTENANCE_MS = 600_000;

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

/**
 * Opens the stores of a PostgreSQL database.
 * @throws Error if the database does not have the tables of this version, or is unavailable.
 */
export async function openPostgresStores(
  config: StoreConfig,
  url: string,
  { clock, random, databaseClock = clock }: StorePlatform,
): Promise<Stores> {
  const { database, maintenance, close } = connect(config, url, databaseClock);
  await requireSchema(database).catch(async (error) => {
    await close();
    return explainDatabaseFailure(error, url);
  });
  const schema = await readSchemaName(database).catch(async (error) => {
    await close();
    return explainDatabaseFailure(error, url);
  });
  const dataDir = config.data_dir;
  const gateways = guardStore(new PostgresGatewayRegistry(database));
  const changes = new PostgresChanges(database, !config.database.pooled);
  const shared = createPostgresDatabase(database, changes);
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
    ...guardStores(createSqlStores(shared)),
    catalog: new PostgresCatalogStore(shared),
    leases: guardStore(new PostgresLeases(database)),
    ledger: guardStore(new PostgresLedgerStore({ database, maintenance })),
    responses: guardStore(new PostgresResponseStore({ database, maintenance })),
    retention: guardStore(new PostgresRetention(maintenance)),
    rollUp: guardStore(new PostgresRollUp(maintenance)),
    usage: guardStore(new PostgresUsageStore({ database, identity: () => identity })),
    clock,
    random,
    ids: createIdSource(clock, random),
    listDamagedLines: () => listDamagedLines(journalDirOf(dataDir)),
    isGatewayRunning: async () => (await gateways.list()).some(({ isLive }) => isLive),
    location: nameDatabase(url),
    schema,
    async close() {
      await changes.close();
      await close();
    },
  };
}

/** Returns the schema that contains the tables of a database. */
async function readSchemaName(database: SqlRunner): Promise<string> {
  const [row] = await database.run<{ schema: string }>(
    `SELECT n.nspname AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.oid = to_regclass('schema_migrations')`,
  );
  return row?.schema ?? "";
}

function requireIdentity(identity: GatewayIdentity | null): GatewayIdentity {
  if (identity === null) throw new Error("the gateway has not registered, so it cannot borrow money");
  return identity;
}

/** Throws an error that names the database. An error about its tables is thrown unchanged. */
export function explainDatabaseFailure(error: unknown, url: string): never {
  if (!(error instanceof StoreError)) throw error;
  throw new Error(`the database ${nameDatabase(url)} cannot be used: ${error.message}`, { cause: error });
}
