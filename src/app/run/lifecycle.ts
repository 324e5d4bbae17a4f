import { StoreError } from "../../base/failures/store-error.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { AuditStore } from "../../core/audit/audit-store.ts";
import type { GatewayReplacedError } from "../../core/gateways/gateway-identity.ts";
import { listen } from "../../http/server/server.ts";
import { formatProblem } from "../config/config-error.ts";
import type { Config } from "../config/config-schema.ts";
import { findUnknownVariables } from "../config/environment-variables.ts";
import { listHostVariables } from "../serving/find-config-problems.ts";
import type { ConfigReloader } from "../start/config-reloader.ts";
import { type Parts, type Platform, wireUp } from "../start/wire-up.ts";
import { explainDiskFailure } from "../stores/data-dir.ts";
import { startBackgroundTasks } from "./background-tasks.ts";
import { drain } from "./drain.ts";
import { type FirstStart, prepareFirstStart } from "./first-start.ts";
import { recoverState } from "./recover-state.ts";

/** A gateway that serves. */
export interface RunningGateway {
  readonly url: string;
  /** The keys that this start has created: at the first start on a data directory, or if there was no management key. Otherwise null. */
  readonly firstStart: FirstStart | null;
  /** Messages to the operator about the configuration. */
  readonly notices: readonly string[];
  /** A served model for the first try; null if none is served. */
  readonly exampleModel: string | null;
  /** Resolves if another process has taken this gateway over. This gateway can save nothing any more, and its process must end. */
  readonly replaced: Promise<GatewayReplacedError>;
  /** Reloads the configuration of this process. */
  readonly reloader: ConfigReloader;
  /** Receives the audit entries of changes that no request has made. */
  readonly audit: Pick<AuditStore, "appendAudit">;
  /** Lets clients notice, closes the listener, lets running requests end within the drain time, and writes all records. */
  stop(): Promise<void>;
}

/**
 * Starts a gateway: opens the stores, completes what an earlier process left, and listens.
 * @throws ConfigError, or Error if the data directory is locked or cannot be used, or the address is in use.
 */
export async function startGateway(config: Config, platform: Platform): Promise<RunningGateway> {
  try {
    const parts = await wireUp(config, platform);
    return await startServing(parts, config, platform).catch(async (error) => {
      await parts.gateways.leave(false);
      await close(parts);
      throw error;
    });
  } catch (error) {
    throw explainDiskFailure(error, config.data_dir);
  }
}

async function startServing(parts: Parts, config: Config, platform: Platform): Promise<RunningGateway> {
  await recoverState(parts, platform);
  const { host, port, extra_prefixes, send_buffer_bytes, processes } = config.server;
  const server = listen(() => parts.http, {
    host,
    port,
    extraPrefixes: extra_prefixes,
    sendBufferBytes: send_buffer_bytes,
    sharesPort: processes !== 1,
  });
  // Only after the address is bound: the keys of a start that fails would never be shown.
  const firstStart = await prepareFirstStart({ ...parts, config, log: platform.log }).catch((error) => {
    server.kill();
    throw error;
  });
  const tasks = startBackgroundTasks(parts, platform);
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    firstStart,
    notices: [
      ...parts.serving.notices,
      ...findUnknownVariables(platform.environment, listHostVariables(config)).map(formatProblem),
    ],
    exampleModel: chooseExampleModel(parts),
    replaced: parts.gateways.replaced,
    reloader: parts.reloader,
    audit: parts.stores.audit,
    async stop() {
      const { drain_ms, drain_notice_ms } = parts.config.current().server;
      await drain({ parts, server, drainMs: drain_ms, noticeMs: drain_notice_ms }, platform);
      tasks.cancel();
      const [isSaved] = await Promise.all([
        writeRest(parts, platform),
        flushTelemetry(parts, platform),
        sendLastEvents(parts, platform),
      ]);
      const leaveMs = isSaved ? LEAVE_MS.saved : LEAVE_MS.unsaved;
      // What is not given back will be taken over, or used by the next start.
      await waitAtMost(platform.clock, leaveMs, parts.gateways.leave(isSaved)).catch(() => {});
      await close(parts);
    },
  };
}

function chooseExampleModel(parts: Parts): string | null {
  const { models } = parts.serving.current().servedModels;
  const wellKnown = models.find(({ id }) => id === "sandbox/echo" || id === "openai/gpt-4o-mini");
  return (wellKnown ?? models[0])?.id ?? null;
}

/** How long the last records may take to be saved. A long backlog stays in the journal. Milliseconds. */
const SAVE_MS = 10_000;
/**
 * How long this gateway may take to leave the others. If everything is saved, it gives its leases back; otherwise it only resigns.
 * Milliseconds.
 */
const LEAVE_MS = { saved: 10_000, unsaved: 1_000 };

/** How long the last spans, metrics and events may take. An unavailable collector or receiver must not delay the end. Milliseconds. */
const FLUSH_MS = 5_000;

async function flushTelemetry({ telemetry }: Parts, { clock }: Platform): Promise<void> {
  await waitAtMost(clock, FLUSH_MS, telemetry.flush()).catch(() => {});
}

/** Sends the events that wait for webhooks once more. */
async function sendLastEvents({ events }: Parts, { clock }: Platform): Promise<void> {
  await waitAtMost(clock, FLUSH_MS, events.stop()).catch(() => {});
}

/** Saves what is not in the store yet. Returns whether the store has taken it. */
async function writeRest(parts: Parts, { clock, log }: Platform): Promise<boolean> {
  const { health, journal } = parts;
  try {
    if (health.isAway) throw new StoreError("it could not be reached a moment ago");
    await waitAtMost(clock, SAVE_MS, saveRest(parts));
    journal.release(Number.POSITIVE_INFINITY);
    return true;
  } catch (error) {
    log.error("the store has not accepted the last records; the journal keeps them for the next start", {
      detail: String(error),
      records: parts.recorder.countWaiting(),
    });
    return false;
  }
}

async function saveRest({ recorder, usageTimes, http }: Parts): Promise<void> {
  await recorder.drain();
  await usageTimes.flush();
  await http.generation.accounts.byokKeys.saveUses();
  await http.callers.keyCache.saveUses();
  await http.reports.promptLog.drain();
  await http.reports.rejections.close();
  await http.features.repeatable.drain();
  await http.features.responses.jobs.drain();
  // Diagnosis: without it, everything that counts is saved.
  await http.reports.healthHistory.flush().catch(() => {});
}

/** Resolves or rejects with `work`, or rejects after a time with a `StoreError`. Keeps the process alive meanwhile. */
async function waitAtMost<Result>(clock: Clock, ms: number, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = clock.after(ms, () => late.reject(new StoreError(`it has not answered for ${ms} ms`)));
  const hold = setInterval(() => {}, ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    timer.cancel();
    clearInterval(hold);
  }
}

async function close({ upstreams, http, journal, release, common }: Parts): Promise<void> {
  await common.close();
  upstreams.close();
  http.generation.tokenCounter.close();
  http.generation.requestEncoder.close();
  journal.close();
  await release();
}
