import { formatTime } from "../../../base/time/time.ts";
import { missingSince } from "../records/expiry.ts";
import type { ModelRecord } from "../records/records.ts";
import type { CatalogStatus } from "./catalog-manager.ts";

/** Presents the state of the catalog and its refreshes as the management API and the command show it. */
export function presentStatus(status: CatalogStatus, models: readonly ModelRecord[]) {
  return {
    source: status.source,
    models: models.length,
    refresh_hours: status.refreshHours,
    price_factor: status.priceFactor,
    grace_days: status.graceDays,
    attempted_at: formatTime(status.attemptedAt),
    refreshed_at: formatTime(status.refreshedAt),
    problem: status.problem,
    waiting: status.waiting,
    rejected: status.rejected,
    missing: models.flatMap((model) => {
      const since = missingSince(model);
      return since === null ? [] : { model: model.id, since, expiration_date: model.expires };
    }),
    difference: status.difference,
  };
}
