import type { Log } from "../../base/failures/log.ts";
import type { DamagedLines } from "../../core/usage/journal/journal.ts";
import type { Recovery } from "../../core/usage/journal/recover-usage.ts";
import { logQuarantined } from "../stores/log-quarantined.ts";

/** The maximum number of elements of a list in one log line, and of files with a line each. */
const MAX_NAMED = 10;

/** Logs the results of a recovery, and what the operator must know about them. */
export function logRecovery({ brought, interrupted, unknown, quarantined }: Recovery, log: Log): void {
  if (brought + interrupted > 0)
    log.warn("completed the records that an earlier process left", { brought, interrupted });
  for (const one of quarantined) logQuarantined(one, log);
  if (unknown.length === 0) return;
  log.error("the journal has entries that this version cannot read; they are kept for a version that can", {
    entries: unknown.length,
    kinds: [...new Set(unknown)].slice(0, MAX_NAMED),
  });
}

/** Repeated at each start until the operator removes the files, because no balance includes what the lines recorded. */
export function logDamagedLines(damaged: readonly DamagedLines[], log: Log): void {
  for (const { file, lines, generations } of damaged.slice(0, MAX_NAMED)) {
    log.error(
      "lines of the journal were damaged and moved to a file; remove the file once they are dealt with",
      { file, lines, generations: generations.slice(0, MAX_NAMED) },
    );
  }
}
