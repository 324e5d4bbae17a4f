import type { Timer } from "../base/clock.ts";
import { prepareModelLists } from "../http/routes/models.ts";
import type { Config } from "./config-schema.ts";
import { createOutageLog } from "./outage-log.ts";
import { scheduleRefresh } from "./schedule-refresh.ts";
import type { Parts, Platform } from "./wire-up.ts";

/** How often changes that other processes made to the data directory are read. Milliseconds. */
const REFRESH_MS = 1_000;

const PROMPT_LOG_SWEEP_MS = 60_000;

/** Starts everything that runs at intervals beside the requests. */
export function startBackgroundTasks(parts: Parts, config: Config, platform: Platform): Timer {
  const { clock, random, log } = platform;
  const { catalogManager: manager } = parts.http;
  const { refresh_hours: hours } = config.catalog;
  const timers = [
    refreshRegularly(parts, platform),
    scheduleRefresh({ manager, clock, random, log, hours }),
    sweepPromptLog(parts, platform),
  ];
  return {
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}

function refreshRegularly(parts: Parts, { clock, log }: Platform): Timer {
  const outage = createOutageLog({
    log,
    clock,
    failureEvent: "the store is unavailable",
    recoveryEvent: "the store is available again",
  });
  return clock.every(REFRESH_MS, () => {
    void refreshServing(parts);
    if (parts.recorder.isHealthy()) parts.recordOutage.succeeded();
    refreshFromStore(parts).then(outage.succeeded, outage.failed);
  });
}

/** Reloads a changed catalog, applies the price changes of a new day, and prepares the model lists of both. */
async function refreshServing({ serving, http }: Parts): Promise<void> {
  await serving.refresh();
  await prepareModelLists(http);
}

/** Reads what other processes have changed in the store. Rejects with the first failure, after all steps. */
async function refreshFromStore({ http }: Parts): Promise<void> {
  const { byokKeys, ledger } = http.generation;
  const failures: unknown[] = [];
  for (const step of [
    http.keyCache.refresh,
    http.accountCache.refresh,
    byokKeys.refresh,
    () => ledger.refresh(),
    () => ledger.expireGrants(),
  ])
    await step().catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Deletes expired entries of the prompt log now, and once a minute. */
function sweepPromptLog({ http }: Parts, { clock, log }: Platform): Timer {
  const sweep = (): Promise<void> =>
    http.promptLog.deleteExpired().catch((error) => {
      log.warn("expired prompt log entries could not be deleted; they are deleted later", {
        detail: String(error),
      });
    });
  void sweep();
  return clock.every(PROMPT_LOG_SWEEP_MS, () => void sweep());
}
