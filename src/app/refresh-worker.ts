import { type RefreshJob, refreshCatalog } from "./refresh-catalog.ts";

/** A thread that does one refresh, so that the gateway serves on meanwhile: thousands of models take it half a second. */
declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<RefreshJob>) => {
  self.postMessage(await refreshCatalog(data));
};
