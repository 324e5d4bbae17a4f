import type { Log } from "../../base/failures/log.ts";
import type { Quarantined } from "../../core/usage/journal/save-records.ts";

/** Logs a record that the store rejects, and its uncharged cost. */
export function logQuarantined({ record, reason }: Quarantined, log: Log): void {
  log.error("the store rejects a record; it is quarantined and not charged", {
    generation_id: record.id,
    account_id: record.accountId,
    cost_nanodollars: record.costNanodollars,
    detail: reason,
  });
}
