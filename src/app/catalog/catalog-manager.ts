import { fail } from "../../base/failures/errors.ts";
import type { Clock } from "../../base/time/clock.ts";
import { type Leases, LeaseTakenError, withLease } from "../../base/time/lease.ts";
import type { CatalogManager, RefreshReport } from "../../core/catalog/refresh/catalog-manager.ts";
import type { CatalogStore } from "../../core/catalog/refresh/catalog-store.ts";
import type { Config } from "../config/config-schema.ts";
import { DEFAULT_CATALOG_SOURCE } from "./read-source.ts";
import { decideHeld, type RefreshJob, refreshCatalog } from "./refresh-catalog.ts";

export interface CatalogManagerOptions {
  /** Returns the configuration in force. */
  readonly config: () => Config;
  readonly store: CatalogStore;
  /** One process writes the catalog at a time. */
  readonly leases: Leases;
  /** This process, as the owner of its leases. */
  readonly owner: string;
  readonly clock: Clock;
  /** Called after the stored catalog has changed. */
  readonly onChanged?: () => Promise<void>;
  /** Runs a refresh; by default in this thread. */
  readonly runRefresh?: (job: RefreshJob) => Promise<RefreshReport>;
}

/** How long a refresh keeps the lease after its process has died, at most. Milliseconds. */
const LEASE_MS = 60_000;

/** Creates a manager of the stored catalog. Several processes may have one; a lease lets one of them write at a time. */
export function createCatalogManager(options: CatalogManagerOptions): CatalogManager {
  const { config, store, clock, onChanged = async () => {} } = options;
  const { runRefresh = (job: RefreshJob) => refreshCatalog(store, job) } = options;
  const sourceOf = ({ catalog }: Config) => catalog.source ?? DEFAULT_CATALOG_SOURCE;
  return {
    async status() {
      const { waiting, rejected, ...state } = await store.readRefreshState();
      const { catalog } = config();
      return {
        source: sourceOf(config()),
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
      const { catalog } = config();
      const factor = String(catalog.price_factor);
      const job = {
        source: sourceOf(config()),
        priceMap: catalog.price_map ?? null,
        factor,
        now: clock.now(),
        dryRun,
        maxBytes: catalog.source_bytes,
      };
      const report = await withRefreshLease(options, () => runRefresh(job));
      if (report.written) await onChanged();
      return report;
    },
    async decide(id, verdict) {
      const decided = await withRefreshLease(options, () => decideHeld(store, id, verdict));
      if (decided === null)
        return fail("not_found", "There is no such price change. List the pending changes for their ids.");
      if (verdict === "approve" && decided.length > 0) await onChanged();
      return decided;
    },
  };
}

async function withRefreshLease<T>(
  { leases, owner, clock }: CatalogManagerOptions,
  work: () => Promise<T>,
): Promise<T> {
  const request = { name: "refresh", owner, durationMs: LEASE_MS };
  return withLease({ leases, clock, request, work }).catch((error) => {
    if (!(error instanceof LeaseTakenError)) throw error;
    return fail("conflict", "The catalog is being refreshed. Try again in a moment.");
  });
}
