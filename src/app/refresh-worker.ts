import { openCatalogStore, type StoreConfig } from "./open-catalog-store.ts";
import { type RefreshJob, refreshCatalog } from "./refresh-catalog.ts";

/** What the gateway sends to the worker. */
export interface RefreshOrder {
  readonly config: StoreConfig;
  readonly job: RefreshJob;
}

/** A thread that runs one refresh: merging thousands of models takes half a second, in which the gateway must go on serving. */
declare const self: Worker;

self.onmessage = async ({ data: { config, job } }: MessageEvent<RefreshOrder>) => {
  self.postMessage(await refreshCatalog(openCatalogStore(config), job));
};
