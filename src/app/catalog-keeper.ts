import type { Clock } from "../base/clock.ts";
import { fail } from "../base/errors.ts";
import type { CatalogKeeper, RefreshReport } from "../core/catalog/catalog-keeper.ts";
import { type DataLock, LockTakenError, lockRefresh } from "../storage/sqlite/data-lock.ts";
import type { Config } from "./config-schema.ts";
import { DEFAULT_CATALOG_SOURCE } from "./read-source.ts";
import { decideHeld, type RefreshJob, refreshCatalog } from "./refresh-catalog.ts";
import { readRefreshState } from "./refresh-state.ts";

/** What keeping a catalog takes. */
export interface KeeperSources {
  readonly config: Config;
  readonly clock: Clock;
  /** Has the catalog taken up that was written. */
  takeUp(): Promise<void>;
  /** Does a refresh; here, unless said. */
  readonly work?: (job: RefreshJob) => Promise<RefreshReport>;
}

/** Keeps the catalog of a data directory; a command and a gateway may both do it, one after the other. */
export function createCatalogKeeper({
  config,
  clock,
  takeUp,
  work = refreshCatalog,
}: KeeperSources): CatalogKeeper {
  const { data_dir: dataDirectory, catalog } = config;
  const source = catalog.source ?? DEFAULT_CATALOG_SOURCE;
  return {
    status() {
      const { waiting, rejected, ...state } = readRefreshState(dataDirectory);
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
    listHeld() {
      const { waiting, rejected } = readRefreshState(dataDirectory);
      return { waiting, rejected };
    },
    async refresh({ dryRun }) {
      const factor = String(catalog.price_factor);
      const report = await withLock(dataDirectory, () =>
        work({ dataDirectory, source, factor, now: clock.now(), dryRun, maxBytes: catalog.source_bytes }),
      );
      if (report.written) await takeUp();
      return report;
    },
    async decide(id, verdict) {
      const decided = await withLock(dataDirectory, async () => decideHeld(dataDirectory, id, verdict));
      if (decided === null)
        return fail("not_found", "There is no such change. The list of changes has those that wait.");
      if (verdict === "approve" && decided.length > 0) await takeUp();
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
