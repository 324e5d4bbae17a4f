import { nameDatabase } from "../../storage/postgres/connection/database-url.ts";
import { migrateDatabase } from "../../storage/postgres/migrations/migrate.ts";
import { migrateDataDir } from "../../storage/sqlite/connection/database.ts";
import type { StoreConfig } from "../catalog/open-catalog-store.ts";
import { explainDatabaseFailure, openPostgresStores } from "./open-postgres-stores.ts";
import { openSqliteStores } from "./open-sqlite-stores.ts";
import type { StorePlatform, Stores } from "./stores.ts";

/** The result of `migrateStores`. */
export interface StoreMigration {
  /** The steps that were applied, in order. */
  readonly applied: readonly string[];
  /** Names the stores in messages. */
  readonly location: string;
}

/**
 * Creates or changes the tables of the configured database for this version of the gateway. Several processes may call it at the same time.
 * Every start calls it.
 * @throws Error if a newer version of the gateway has migrated the database and this one cannot share it, or if it is unavailable.
 */
export async function migrateStores(
  config: StoreConfig,
  { clock, databaseClock = clock }: Pick<StorePlatform, "clock" | "databaseClock">,
): Promise<StoreMigration> {
  const { url, pooled } = config.database;
  if (url === undefined) {
    return { applied: migrateDataDir(config.data_dir), location: config.data_dir };
  }
  const migration = migrateDatabase({ url, isPooled: pooled, clock: databaseClock });
  const { applied } = await migration.catch((error) => explainDatabaseFailure(error, url));
  return { applied, location: nameDatabase(url) };
}

/**
 * Opens the configured stores: PostgreSQL if `database.url` is set, otherwise SQLite. The only way in which gateway and commands open them.
 * Other processes may use them at the same time.
 * @throws Error if the database does not have the tables of this version, or is unavailable.
 */
export async function openStores(config: StoreConfig, platform: StorePlatform): Promise<Stores> {
  const { url } = config.database;
  return url === undefined ? openSqliteStores(config, platform) : openPostgresStores(config, url, platform);
}
