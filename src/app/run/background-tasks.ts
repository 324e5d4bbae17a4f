import type { Timer } from "../../base/time/clock.ts";
import { DAY_MS } from "../../base/time/time.ts";
import { ObjectSweep } from "../../core/response-objects/retention/object-sweep.ts";
import { sweepRejections } from "../../core/usage/rejections/sweep-rejections.ts";
import { prepareModelLists } from "../../http/routes/models/models.ts";
import { scheduleRefresh } from "../catalog/schedule-refresh.ts";
import type { Config } from "../config/config-schema.ts";
import { restartOnChange } from "../config/restart-on-change.ts";
import { takeOverRegularly } from "../several/take-over-regularly.ts";
import type { Parts, Platform } from "../start/wire-up.ts";
import { createOutageLog } from "../stores/outage-log.ts";
import { Poll } from "../watch/poll.ts";
import { type DaySweep, scheduleSweep } from "../watch/sweep-by-day.ts";

/** How often expired entries of the prompt log, and response objects, are deleted. Milliseconds. */
const SWEEP_MS = 60_000;

/** Starts the recurring tasks, which run besides the requests. */
export function startBackgroundTasks(parts: Parts, platform: Platform): Timer {
  const { clock, random, log } = platform;
  const { config, stores } = parts;
  const {
    resources: { catalogManager: manager },
  } = parts.http;
  const timers = [
    refreshRegularly(parts, platform),
    restartOnChange(
      config,
      ({ catalog }) => catalog.refresh_hours,
      (hours) => scheduleRefresh({ manager, clock, random, log, hours }),
    ),
    sweepPromptLog(parts, platform),
    sweepResponseObjects(parts, platform),
    followProviders(parts, platform),
    ...sweepDays(parts, platform),
    parts.telemetry.start(parts),
    parts.events.start(parts),
    takeOverRegularly({
      ...{ ...parts.gateways, stores, clock, log, dataDir: config.current().data_dir },
      endResponses: (live) => parts.http.features.responses.jobs.failLost(live),
    }),
  ];
  return {
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}

/** How long hints are collected before changes are read. Milliseconds. */
const HINT_MS = 10;

/** Reads what other processes have changed, at intervals and after each hint. */
function refreshRegularly(parts: Parts, platform: Platform): Timer {
  const { changes } = parts.stores;
  const polls = [readRegularly(parts, platform), keepUpRegularly(parts, platform)];
  let isHinted = false;
  changes.listen(() => {
    if (isHinted) return;
    isHinted = true;
    platform.clock.after(HINT_MS, () => {
      isHinted = false;
      for (const poll of polls) poll.callNow();
    });
  });
  return {
    cancel() {
      for (const poll of polls) poll.cancel();
    },
  };
}

/** Reads the revisions that the caches depend on. Its success decides what requests may expect of the store. */
function readRegularly(parts: Parts, { clock, log }: Platform): Poll {
  const { health, http, stores } = parts;
  const outage = createOutageLog({
    log,
    clock,
    failureEvent: "the store is unavailable",
    recoveryEvent: "the store is available again",
  });
  return new Poll({
    clock,
    periodMs: stores.changes.periodMs,
    async call() {
      // Prices of a new day do not wait for the store, and a catalog change delays no other task.
      await stores.changes.read().finally(() => void refreshServing(parts));
      const {
        accounts: { byokKeys, accountRoutes },
        routing: { drains },
      } = http.generation;
      await runAll([
        http.callers.keyCache.refresh,
        http.callers.accountCache.refresh,
        byokKeys.refresh,
        accountRoutes.refresh,
        () => drains.refresh(),
        () => parts.reloader.follow(),
      ]);
    },
    onSuccess(beganAt) {
      health.succeeded(beganAt);
      outage.succeeded();
    },
    onFailure(error) {
      health.failed();
      outage.failed(error);
    },
  });
}

/** Does the work that no request waits for. It is separate from reading, because a store may be readable and accept no changes. */
function keepUpRegularly(parts: Parts, { clock, log }: Platform): Poll {
  const outage = createOutageLog({
    log,
    clock,
    failureEvent: "the store does not accept changes to balances or to the use of keys",
    recoveryEvent: "the store accepts changes to balances and to the use of keys again",
  });
  return new Poll({
    clock,
    periodMs: parts.stores.changes.periodMs,
    call() {
      if (parts.recorder.isHealthy()) parts.recordOutage.succeeded();
      return keepUp(parts);
    },
    onSuccess: outage.succeeded,
    onFailure: outage.failed,
  });
}

/** Reloads a changed catalog, applies the price changes of a new day, and prepares the model lists of both. */
async function refreshServing({ serving, http }: Parts): Promise<void> {
  await serving.refresh();
  await prepareModelLists(http);
}

function keepUp({ http, gateways }: Parts): Promise<void> {
  const {
    accounts: { byokKeys },
    ledger,
  } = http.generation;
  return runAll([
    () => ledger.refresh(),
    async () => {
      if (await gateways.isLeader()) await ledger.expireGrants();
      else ledger.leaveGrants();
    },
    byokKeys.saveUses,
    http.callers.keyCache.saveUses,
  ]);
}

/** Runs steps in order. Rejects with the first failure, after all steps. */
async function runAll(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Deletes expired entries of the prompt log now, and once a minute. */
function sweepPromptLog({ http, gateways }: Parts, { clock, log }: Platform): Timer {
  const sweep = async (): Promise<void> => {
    try {
      if (await gateways.isLeader()) await http.reports.promptLog.deleteExpired();
    } catch (error) {
      log.warn("expired prompt log entries could not be deleted; they are deleted later", {
        detail: String(error),
      });
    }
  };
  void sweep();
  return clock.every(SWEEP_MS, () => void sweep());
}

/** Deletes expired response objects, and those of closed accounts, once a minute. The first time not at the start, which has other work. */
function sweepResponseObjects({ stores, config, gateways }: Parts, { clock, log }: Platform): Timer {
  const { responses: store, accounts } = stores;
  const retentionDays = () => config.current().responses.retention_days;
  const objects = new ObjectSweep({ store, accounts, clock, log, retentionDays });
  let isRunning = false;
  return clock.every(SWEEP_MS, async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      if (await gateways.isLeader()) await objects.run();
    } catch (error) {
      log.warn("response objects could not be deleted; they are deleted later", { detail: String(error) });
    }
    isRunning = false;
  });
}

/** How often the health of providers is compared with its last state. Milliseconds. */
const PROVIDERS_MS = 2_000;

/** Follows the incidents of providers, and saves how attempts at them end. */
function followProviders({ healthHistory }: Parts, { clock, log }: Platform): Poll {
  const outage = createOutageLog({
    log,
    clock,
    failureEvent: "the store does not accept the history of providers; it is saved later",
    recoveryEvent: "the history of providers is saved again",
  });
  return new Poll({
    clock,
    periodMs: PROVIDERS_MS,
    call: () => healthHistory.update(),
    onSuccess: outage.succeeded,
    onFailure: outage.failed,
  });
}

/** For how many days invitations that have ended are kept. */
const INVITATION_DAYS = 90;
/** The number of invitations that one statement deletes. */
const DELETED_AT_ONCE = 1_000;

/** Deletes generations, rejected requests and ended invitations beyond their retention, merges sums of hours, and releases space. */
function sweepDays({ config, stores, gatewayId }: Parts, { clock, log }: Platform): readonly Timer[] {
  const { retention, rejections, invitations, responses, rollUp, leases } = stores;
  const sweepAfter = (readDays: (config: Config) => number | null, sweep: Omit<DaySweep, "days">) =>
    restartOnChange(config, readDays, (days) =>
      scheduleSweep({ ...sweep, days }, { leases, clock, log, owner: gatewayId }),
    );
  return [
    sweepAfter(({ storage }) => storage.retention_days ?? null, {
      name: "retention",
      step: (firstKept) => retention.dropUsage(firstKept),
      failureEvent: "generations beyond storage.retention_days could not be deleted; they are deleted later",
    }),
    sweepAfter(({ storage }) => storage.hourly_usage_days, {
      name: "usage roll-up",
      step: (firstKept) => rollUp.rollUpHours(firstKept),
      failureEvent: "usage by hour beyond storage.hourly_usage_days could not be merged; it is merged later",
    }),
    // If none are recorded, not even those of today are kept.
    sweepAfter(({ storage }) => (storage.rejected_days === 0 ? -1 : storage.rejected_days), {
      name: "rejected requests",
      step: (firstKept) => sweepRejections(rejections, firstKept * DAY_MS),
      failureEvent:
        "rejected requests beyond storage.rejected_days could not be deleted; they are deleted later",
    }),
    sweepAfter((config) => config.responses.retention_days, {
      name: "response objects",
      step: (firstKept) => responses.releaseSpace(firstKept),
      failureEvent: "the space of deleted response objects could not be released; it is released later",
    }),
    sweepAfter(() => INVITATION_DAYS, {
      name: "invitations",
      async step(firstKept) {
        const deleted = await invitations.deleteEndedInvitations(firstKept * DAY_MS, DELETED_AT_ONCE);
        return { hasMore: deleted >= DELETED_AT_ONCE };
      },
      failureEvent: `invitations that ended more than ${INVITATION_DAYS} days ago could not be deleted; they are deleted later`,
    }),
  ];
}
