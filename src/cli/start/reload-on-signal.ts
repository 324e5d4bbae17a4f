import type { RunningGateway } from "../../app/run/lifecycle.ts";
import type { Log } from "../../base/failures/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import { type ConfigReload, describeReload } from "../../core/settings/config-reload.ts";

/** The log event of a reload that changed nothing. */
export const NOT_RELOADED = "the configuration was not reloaded; the former one stays in force";

/** The dependencies of a reload on a signal. */
interface SignalReload {
  readonly gateway: Pick<RunningGateway, "reloader" | "audit">;
  readonly log: Log;
  readonly clock: Clock;
}

/** Reloads the configuration of the only process. Logs what has changed, or all problems. */
export async function reloadOnSignal(parts: SignalReload): Promise<void> {
  try {
    await recordReload(parts, await parts.gateway.reloader.reload({ dryRun: false }));
  } catch (error) {
    parts.log.error(NOT_RELOADED, { detail: (error as Error).message });
  }
}

/** Logs a reload that no request has asked for, and writes its entry of the audit log. */
export async function recordReload(
  { gateway, log, clock }: SignalReload,
  reload: ConfigReload,
): Promise<void> {
  logReload(log, reload);
  const entry = { keyId: null, userId: null, accountId: null, target: null, requestId: null };
  const changes = describeReload(reload);
  await gateway.audit.appendAudit({ ...entry, at: clock.now(), action: "SIGHUP", changes }).catch((error) =>
    log.error("a change has no entry in the audit log", {
      action: "SIGHUP",
      changes,
      detail: String(error),
    }),
  );
}

/** Logs which settings a reload has changed, and which await a restart. */
export function logReload(log: Log, { changes }: ConfigReload): void {
  const names = (waits: boolean) =>
    changes.filter(({ needsRestart }) => needsRestart === waits).map(({ name }) => name);
  log.info("the configuration was reloaded", { changed: names(false), need_restart: names(true) });
}
