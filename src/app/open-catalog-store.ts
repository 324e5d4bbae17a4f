import type { CatalogStore } from "../core/catalog/catalog-store.ts";
import { createFileCatalogStore } from "../storage/files/catalog-store.ts";
import type { Config } from "./config-schema.ts";

/** The configuration that decides where data is stored: plain data, so that it can be passed to another thread. */
export type StoreConfig = Pick<Config, "data_dir" | "database">;

/** Opens the configured store of the catalog, for a thread that needs no other store. */
export function openCatalogStore(config: StoreConfig): CatalogStore {
  return createFileCatalogStore(config.data_dir);
}
