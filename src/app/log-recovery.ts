import type { Log } from "../base/log.ts";
import type { Recovery } from "../core/usage/recover-usage.ts";
import { logQuarantined } from "./log-quarantined.ts";

/** The most kinds of entries in one log line. */
const MAX_KINDS = 10;

/** Logs what a recovery did, and what the operator must know of it. */
export function logRecovery({ brought, interrupted, unknown, quarantined }: Recovery, log: Log): void {
  if (brought + interrupted > 0)
    log.warn("completed the records that an earlier process left", { brought, interrupted });
  for (const one of quarantined) logQuarantined(one, log);
  if (unknown.length === 0) return;
  log.error("the journal has entries that this version cannot read; they are kept for a version that can", {
    entries: unknown.length,
    kinds: [...new Set(unknown)].slice(0, MAX_KINDS),
  });
}
