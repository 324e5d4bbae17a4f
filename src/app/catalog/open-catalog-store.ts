import type { Clock } from "../../base/time/clock.ts";
import type { CatalogStore } from "../../core/catalog/refresh/catalog-store.ts";
import { createFileCatalogStore } from "../../storage/files/catalog-store.ts";
import { PostgresCatalogStore } from "../../storage/postgres/catalog-store.ts";
import { connectPostgres } from "../../storage/postgres/connection/client.ts";
import { createPostgresDatabase } from "../../storage/postgres/connection/sql-database.ts";
import type { Config } from "../config/config-schema.ts";

/** The configuration that decides where data is stored: plain data, so that it can be passed to another thread. */
export type StoreConfig = Pick<Config, "data_dir" | "database">;

/** Runs `work` with the configured store of the catalog, in a thread that needs no other store. Returns what `work` returns. */
export async function withCatalogStore<Result>(
  { data_dir, database: { url, pooled: isPooled } }: StoreConfig,
  clock: Clock,
  work: (store: CatalogStore) => Promise<Result>,
): Promise<Result> {
  if (url === undefined) return work(createFileCatalogStore(data_dir));
  const database = connectPostgres({ url, isPooled, maxConnections: 1, clock });
  try {
    return await work(new PostgresCatalogStore(createPostgresDatabase(database)));
  } finally {
    await database.close();
  }
}
