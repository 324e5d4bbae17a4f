/** The worker that runs one refresh: merging thousands of models would block the event loop for half a second. */
import { systemClock } from "../../base/time/clock.ts";
import { type StoreConfig, withCatalogStore } from "./open-catalog-store.ts";
import { type RefreshJob, refreshCatalog } from "./refresh-catalog.ts";

/** The message that starts the refresh. */
export interface RefreshMessage {
  readonly config: StoreConfig;
  readonly job: RefreshJob;
}

declare const self: Worker;

self.onmessage = async ({ data: { config, job } }: MessageEvent<RefreshMessage>) => {
  self.postMessage(await withCatalogStore(config, systemClock, (store) => refreshCatalog(store, job)));
};
