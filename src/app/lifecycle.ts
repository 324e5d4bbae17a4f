import type { Timer } from "../base/clock.ts";
import { HOUR_MS } from "../base/days.ts";
import type { Log } from "../base/log.ts";
import { nextTurn } from "../base/next-turn.ts";
import { findUnreadableKeys } from "../core/provider-keys/find-unreadable.ts";
import type { ProviderKeyRecord } from "../core/provider-keys/records.ts";
import type { DamagedLines } from "../core/usage/journal.ts";
import { type Recovery, recoverUsage } from "../core/usage/recover-usage.ts";
import { prepareModelLists } from "../http/routes/models.ts";
import { type HttpServer, listen } from "../http/server/server.ts";
import type { Config } from "./config-schema.ts";
import { explainDiskFailure } from "./data-dir.ts";
import { type FirstStart, prepareFirstStart } from "./first-start.ts";
import { scheduleRefresh } from "./schedule-refresh.ts";
import { tellQuarantined } from "./tell-quarantined.ts";
import { createTroubleLog } from "./trouble-log.ts";
import { type Parts, type Platform, wireUp } from "./wire-up.ts";

/** How often it is looked whether another process changed keys or catalog. Milliseconds. */
const REFRESH_MS = 1_000;

/** A gateway that serves. */
export interface RunningGateway {
  readonly url: string;
  /** Secrets that this start has made: the first on a data directory, or one that found no management key. Else null. */
  readonly firstStart: FirstStart | null;
  /** What the operator should know. */
  readonly notices: readonly string[];
  /** A model that can be asked right now, for the first try; null where none is served. */
  readonly exampleModel: string | null;
  /** Takes no new requests, lets open ones end within the drain time, writes everything down. */
  stop(): Promise<void>;
}

/**
 * Starts a gateway: opens the stores, settles what an earlier process left, listens.
 * @throws ConfigError, or Error when the data directory or the address is taken.
 */
export async function startGateway(config: Config, platform: Platform): Promise<RunningGateway> {
  try {
    const parts = await wireUp(config, platform);
    return await startServing(parts, config, platform).catch((error) => {
      parts.journal.close();
      parts.release();
      throw error;
    });
  } catch (error) {
    throw explainDiskFailure(error, config.data_dir);
  }
}

async function startServing(parts: Parts, config: Config, platform: Platform): Promise<RunningGateway> {
  const { clock, log } = platform;
  const { gatewayId } = parts.http.generation;
  const recovering = { journal: parts.journal, store: parts.stores.usage, gatewayId, now: clock.now() };
  tellRecovery(await recoverUsage(recovering), log);
  tellDamage(parts.stores.listDamagedLines(), log);
  tellUnreadable(
    await findUnreadableKeys(parts.stores.providerKeys, parts.http.providerKeyStores.vault),
    log,
  );
  const unsure = await parts.stores.audit.settleChanges();
  if (unsure > 0) log.warn("changes were under way when the gateway stopped", { changes: unsure });
  await restoreHourlyLimits(parts, clock.now());
  const { host, port, extra_prefixes, send_buffer_bytes } = config.server;
  const server = listen(parts.http, {
    host,
    port,
    extraPrefixes: extra_prefixes,
    sendBufferBytes: send_buffer_bytes,
  });
  // Once the address is ours: nobody would ever see the secrets of a start that fails.
  const firstStart = await prepareFirstStart(parts.stores, config, log).catch((error) => {
    server.kill();
    throw error;
  });
  const trouble = createTroubleLog(log, clock, "the store is away", "the store is back");
  const refresh = clock.every(REFRESH_MS, () => {
    void refreshServing(parts);
    if (parts.recorder.isHealthy()) parts.recordTrouble.isOver();
    refreshFromStore(parts).then(trouble.isOver, trouble.met);
  });
  const { catalogManager: catalogKeeper } = parts.http;
  const hours = config.catalog.refresh_hours;
  const catalogRefresh = scheduleRefresh({
    manager: catalogKeeper,
    clock,
    random: platform.random,
    log,
    hours,
  });
  const promptLogSweep = sweepPromptLog(parts, platform);
  const cancelTimers = (): void => {
    refresh.cancel();
    promptLogSweep.cancel();
    catalogRefresh.cancel();
  };
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    firstStart,
    notices: parts.serving.notices,
    exampleModel: chooseExampleModel(parts),
    stop: () => stopServing(parts, server, cancelTimers, config, platform),
  };
}

/** Takes up a new catalog or a new day, and has the lists of it ready. */
async function refreshServing({ serving, http }: Parts): Promise<void> {
  await serving.refresh();
  await prepareModelLists(http);
}

/** Takes over what other processes have changed in the store. A step that fails keeps none behind it from being done. */
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

/** Deletes expired entries of the prompt log now, and from time to time. */
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

const PROMPT_LOG_SWEEP_MS = 60_000;

function tellRecovery({ brought, interrupted, unknown, quarantined }: Recovery, log: Log): void {
  if (brought + interrupted > 0) log.warn("settled what an earlier process left", { brought, interrupted });
  for (const one of quarantined) tellQuarantined(one, log);
  if (unknown.length === 0) return;
  log.error("the journal has entries that this version cannot read; it keeps them for one that can", {
    entries: unknown.length,
    kinds: [...new Set(unknown)].slice(0, NAMED_KINDS),
  });
}

const NAMED_KINDS = 10;

/** At each start until the operator has removed the files: what the lines recorded is in no balance. */
function tellDamage(damaged: readonly DamagedLines[], log: Log): void {
  for (const { file, lines, generations } of damaged.slice(0, NAMED_FILES)) {
    log.error(
      "lines of the journal were damaged and are kept aside; remove the file once they are dealt with",
      {
        file,
        lines,
        generations: generations.slice(0, NAMED_KINDS),
      },
    );
  }
}

const NAMED_FILES = 10;

/** Requests that need these keys fail until their master key is back or they are stored again. */
function tellUnreadable(keys: readonly ProviderKeyRecord[], log: Log): void {
  if (keys.length === 0) return;
  log.error(
    "provider keys of accounts cannot be opened: the master key that sealed them is missing or has changed",
    {
      keys: keys.length,
      named: keys.slice(0, NAMED_KEYS).map(({ id, accountId, provider, sealed }) => ({
        provider_key_id: id,
        account_id: accountId,
        provider,
        master_key_id: sealed.masterKeyId,
      })),
      remedy: "restore the master key in GATEWAY_SECRETS_KEY or secrets.keys, or store the keys again",
    },
  );
}

const NAMED_KEYS = 100;

/** Requests of the last hour count again: a restart frees nobody. */
async function restoreHourlyLimits({ stores, http }: Parts, now: number): Promise<void> {
  const { rateLimiter, freeLimit, listLimits } = http.generation;
  const since = now - HOUR_MS;
  for (const { addressHash, createdAt } of await stores.usage.findAnonymousSince(since))
    for (const scope of listLimits({ kind: "anonymous", addressHash }, null))
      rateLimiter.restore(scope, createdAt);
  for (const { accountId, createdAt } of await stores.usage.findFreeSince(since))
    freeLimit.restore(accountId, createdAt);
}

function chooseExampleModel(parts: Parts): string | null {
  const { models } = parts.serving.current().servedModels;
  const wellKnown = models.find(({ id }) => id === "sandbox/echo" || id === "openai/gpt-4o-mini");
  return (wellKnown ?? models[0])?.id ?? null;
}

async function stopServing(
  parts: Parts,
  server: HttpServer,
  cancelTimers: () => void,
  config: Config,
  { clock, log }: Platform,
): Promise<void> {
  parts.state.isDraining = true;
  cancelTimers();
  const { active } = parts.http.generation;
  if (active.size > 0)
    log.info("waiting for open answers", { open: active.size, drain_ms: config.server.drain_ms });
  const cutRest = clock.after(config.server.drain_ms, () => {
    for (const cancellation of [...active]) cancellation.cancel("shutdown");
    // Their error events need a moment to leave.
    clock.after(LAST_WORDS_MS, () => server.kill());
  });
  await server.stop();
  cutRest.cancel();
  // No connection is open any more, so the clients of these have left.
  for (const cancellation of [...active]) cancellation.cancel("client_left");
  for (let turn = 0; active.size > 0 && turn < LAST_TURNS; turn++) await nextTurn();
  try {
    await parts.recorder.drain();
    await parts.http.generation.byokKeys.saveUses();
    await parts.http.promptLog.drain();
    parts.journal.release(Number.POSITIVE_INFINITY);
  } catch (error) {
    log.error("the store refused the last records; the journal keeps them for the next start", {
      detail: String(error),
    });
  }
  for (const transport of parts.transports) transport.close();
  parts.http.generation.tokenCounter.close();
  parts.http.generation.requestEncoder.close();
  parts.journal.close();
  parts.release();
}

const LAST_WORDS_MS = 1_000;
/** Turns of the event loop that generations which have been cut take at most to end. */
const LAST_TURNS = 100;
