import type { Timer } from "../base/clock.ts";
import { prepareModelLists } from "../http/routes/models.ts";
import type { Config } from "./config-schema.ts";
import { createOutageLog } from "./outage-log.ts";
import { scheduleRefresh } from "./schedule-refresh.ts";
import { scheduleRetention } from "./sweep-retention.ts";
import type { Parts, Platform } from "./wire-up.ts";

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
    sweepRetention(parts, config, platform),
  ];
  return {
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}

/** Reads what other processes have changed, at intervals and after each hint. One reading runs at a time. */
function refreshRegularly(parts: Parts, { clock, log }: Platform): Timer {
  const { changes } = parts.stores;
  const outage = createOutageLog({
    log,
    clock,
    failureEvent: "the store is unavailable",
    recoveryEvent: "the store is available again",
  });
  const refresh = runOneAtATime(async () => {
    if (parts.recorder.isHealthy()) parts.recordOutage.succeeded();
    const reading = changes.read();
    // What costs no reading is done also while the store is unavailable.
    await reading.catch(() => {});
    void refreshServing(parts);
    await refreshFromStore(parts, reading).then(outage.succeeded, outage.failed);
  });
  let isHinted = false;
  changes.listen(() => {
    if (isHinted) return;
    isHinted = true;
    clock.after(HINT_MS, () => {
      isHinted = false;
      refresh();
    });
  });
  return clock.every(changes.periodMs, refresh);
}

/** How long hints are collected before changes are read. Milliseconds. */
const HINT_MS = 10;

/** Returns a function that runs `work`. Calls while it runs are answered by one more run after it. */
function runOneAtATime(work: () => Promise<void>): () => void {
  let isRunning = false;
  let isWanted = false;
  return async function run(): Promise<void> {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      await work();
    }
    isRunning = false;
  };
}

/** Reloads a changed catalog, applies the price changes of a new day, and prepares the model lists of both. */
async function refreshServing({ serving, http }: Parts): Promise<void> {
  await serving.refresh();
  await prepareModelLists(http);
}

/** Applies what `reading` has found of the changes of other processes. Rejects with the first failure, after all steps. */
async function refreshFromStore({ http, gateways }: Parts, reading: Promise<void>): Promise<void> {
  const { byokKeys, ledger } = http.generation;
  const failures: unknown[] = [];
  for (const step of [
    () => reading,
    http.keyCache.refresh,
    http.accountCache.refresh,
    byokKeys.refresh,
    () => ledger.refresh(),
    async () => {
      if (await gateways.isLeader()) await ledger.expireGrants();
    },
  ])
    await step().catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Deletes expired entries of the prompt log now, and once a minute. */
function sweepPromptLog({ http, gateways }: Parts, { clock, log }: Platform): Timer {
  const sweep = async (): Promise<void> => {
    try {
      if (await gateways.isLeader()) await http.promptLog.deleteExpired();
    } catch (error) {
      log.warn("expired prompt log entries could not be deleted; they are deleted later", {
        detail: String(error),
      });
    }
  };
  void sweep();
  return clock.every(PROMPT_LOG_SWEEP_MS, () => void sweep());
}

function sweepRetention({ stores, gatewayId }: Parts, config: Config, { clock, log }: Platform): Timer {
  const { retention, leases } = stores;
  const days = config.storage.retention_days ?? null;
  return scheduleRetention({ retention, leases, clock, log, owner: gatewayId, days });
}
