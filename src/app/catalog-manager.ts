import type { Clock } from "../base/clock.ts";
import { fail } from "../base/errors.ts";
import type { CatalogManager, RefreshReport } from "../core/catalog/catalog-manager.ts";
import type { CatalogStore } from "../core/catalog/catalog-store.ts";
import { type DataLock, LockTakenError, lockRefresh } from "../storage/sqlite/data-lock.ts";
import type { Config } from "./config-schema.ts";
import { DEFAULT_CATALOG_SOURCE } from "./read-source.ts";
import { decideHeld, type RefreshJob, refreshCatalog } from "./refresh-catalog.ts";

export interface CatalogManagerOptions {
  readonly config: Config;
  readonly store: CatalogStore;
  readonly clock: Clock;
  /** Called after the stored catalog has changed. */
  readonly onChanged?: () => Promise<void>;
  /** Runs a refresh; by default in this thread. */
  readonly runRefresh?: (job: RefreshJob) => Promise<RefreshReport>;
}

/** Creates a manager of the stored catalog. Several processes may have one; the refresh lock lets one of them write at a time. */
export function createCatalogManager(options: CatalogManagerOptions): CatalogManager {
  const { config, store, clock, onChanged = async () => {} } = options;
  const { runRefresh = (job: RefreshJob) => refreshCatalog(store, job) } = options;
  const { data_dir: dataDirectory, catalog } = config;
  const source = catalog.source ?? DEFAULT_CATALOG_SOURCE;
  return {
    async status() {
      const { waiting, rejected, ...state } = await store.readRefreshState();
      return {
        source,
        refreshHours: catalog.refresh_hours,
        priceFactor: catalog.price_factor,
        graceDays: catalog.grace_days,
        ...state,
        waiting: waiting.length,
        rejected: rejected.length,
      };
    },
    async listHeld() {
      const { waiting, rejected } = await store.readRefreshState();
      return { waiting, rejected };
    },
    async refresh({ dryRun }) {
      const factor = String(catalog.price_factor);
      const job = { source, factor, now: clock.now(), dryRun, maxBytes: catalog.source_bytes };
      const report = await withLock(dataDirectory, () => runRefresh(job));
      if (report.written) await onChanged();
      return report;
    },
    async decide(id, verdict) {
      const decided = await withLock(dataDirectory, () => decideHeld(store, id, verdict));
      if (decided === null)
        return fail("not_found", "There is no such price change. List the pending changes for their ids.");
      if (verdict === "approve" && decided.length > 0) await onChanged();
      return decided;
    },
  };
}

async function withLock<T>(dataDirectory: string, work: () => Promise<T>): Promise<T> {
  const lock = takeLock(dataDirectory);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function takeLock(dataDirectory: string): DataLock {
  try {
    return lockRefresh(dataDirectory);
  } catch (error) {
    if (!(error instanceof LockTakenError)) throw error;
    return fail("conflict", "The catalog is being refreshed. Repeat the request in a moment.");
  }
}
