/** Joins all parts of a gateway: `wireUp` calls one builder for each group of parts, in the order in which they depend on each other. */

import { LinkedSet } from "../../base/collections/linked-set.ts";
import { WaitList } from "../../base/collections/wait-list.ts";
import type { Log } from "../../base/failures/log.ts";
import { StoreHealth } from "../../base/failures/store-health.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import { createTurnLine } from "../../base/time/next-turn.ts";
import { principalOfAccount } from "../../core/accounts/memory/inference-principal.ts";
import { DEFAULT_ACCOUNT_ID } from "../../core/accounts/records/records.ts";
import { hashOidcConfig } from "../../core/console/oidc-trials.ts";
import type { Transport } from "../../core/deployments/transport.ts";
import { AnswerCache } from "../../core/extensions/answers/answer-cache.ts";
import { RepeatableAnswers } from "../../core/extensions/answers/repeatable-answers.ts";
import type { BudgetWatch } from "../../core/extensions/budgets/budget-watch.ts";
import { Guardrails } from "../../core/extensions/guardrails/guardrails.ts";
import { HealthHistory } from "../../core/extensions/health-history/health-history.ts";
import { PromptLog } from "../../core/extensions/prompt-log/prompt-log.ts";
import { createRequestLog } from "../../core/extensions/request-log.ts";
import { BEGIN_RESPONSE } from "../../core/extensions/response-objects/begin-response.ts";
import { ShadowTraffic, type ShadowTrafficDeps } from "../../core/extensions/shadow/shadow-traffic.ts";
import type { GenerationDeps } from "../../core/generation/call/call.ts";
import { WATCH_MS } from "../../core/generation/call/client-watch.ts";
import type { Extension } from "../../core/generation/call/extension.ts";
import { generate } from "../../core/generation/generate.ts";
import { createIdentityHash } from "../../core/generation/memory/identity-hash.ts";
import { createLearnedRefusals } from "../../core/generation/memory/learned-refusals.ts";
import { createRecentFailures } from "../../core/generation/memory/recent-failures.ts";
import type { TokenCounter } from "../../core/generation/memory/token-counter.ts";
import { createGate } from "../../core/limits/gate.ts";
import { type AccountRoutes, createAccountRoutes } from "../../core/named-routes/account-routes.ts";
import {
  createProviderKeyCache,
  type ProviderKeyCache,
} from "../../core/provider-keys/provider-key-cache.ts";
import { createVault, type Vault } from "../../core/provider-keys/vault.ts";
import { ResponseObjects } from "../../core/response-objects/response-objects.ts";
import { createAffinityMemory } from "../../core/routing/affinity/affinity.ts";
import { createCacheMemory } from "../../core/routing/affinity/cache-memory.ts";
import { Drains } from "../../core/routing/health/drains.ts";
import type { Health } from "../../core/routing/health/health.ts";
import { createRetryBudget } from "../../core/routing/health/retry-budget.ts";
import type { ConfigReload, ReloadOptions } from "../../core/settings/config-reload.ts";
import { ClientMemory } from "../../core/usage/clients/client-memory.ts";
import type { Journal } from "../../core/usage/journal/journal.ts";
import type { Recorder } from "../../core/usage/journal/recorder.ts";
import { RejectionLog } from "../../core/usage/rejections/rejection-log.ts";
import type { TimesRecorder } from "../../core/usage/reports/times-recorder.ts";
import { createRequestEncoder } from "../../encoder/request-encoder.ts";
import type { HttpDeps } from "../../http/context/context.ts";
import { prepareModelLists } from "../../http/routes/models/models.ts";
import { openFileJournal } from "../../storage/journal/file-journal.ts";
import { lockDataDir } from "../../storage/sqlite/connection/data-lock.ts";
import { startStoreWorker } from "../../storage/sqlite/threads/start-store-worker.ts";
import type { StartStoreThread } from "../../storage/sqlite/threads/store-thread.ts";
import { TextWebhook, type TextWebhookConfig } from "../../telemetry/webhooks/text-webhook.ts";
import { createTokenCounter } from "../../tokenizer/token-counter.ts";
import type { RefreshJob } from "../catalog/refresh-catalog.ts";
import { refreshInThread } from "../catalog/refresh-in-thread.ts";
import type { Config } from "../config/config-schema.ts";
import type { FileConfig } from "../config/config-sources.ts";
import { readGuardrails } from "../config/guardrail-schema.ts";
import { LiveConfig } from "../config/live-config.ts";
import { readFileConfig } from "../config/load-config.ts";
import { PlatformKeyLabels } from "../config/platform-key-labels.ts";
import { readResponseSettings, requireOidcSecret } from "../config/read-settings.ts";
import { openServing, type ServingSource } from "../serving/open-serving.ts";
import { createUpstreams, type Upstreams } from "../serving/upstreams.ts";
import { type JoinedGateways, joinGateways } from "../several/join-gateways.ts";
import { adoptFormer } from "../stored-config/adopt-former.ts";
import { describeGatewayConfig } from "../stored-config/describe-config.ts";
import { openStartConfig } from "../stored-config/start-config.ts";
import { type CommonState, openCommonState } from "../stores/common-state.ts";
import { prepareDataDir } from "../stores/data-dir.ts";
import { findSecret } from "../stores/find-secret.ts";
import { type MasterKeys, openMasterKeys } from "../stores/open-master-keys.ts";
import { migrateStores, openStores } from "../stores/open-stores.ts";
import type { OutageLog } from "../stores/outage-log.ts";
import { joinRedis } from "../stores/redis-id.ts";
import { rejectIncompleteCopy } from "../stores/reject-incomplete-copy.ts";
import { journalDirOf, type Stores } from "../stores/stores.ts";
import { waitForDatabase } from "../stores/wait-for-database.ts";
import { createGenerationFeed } from "../watch/generation-feed.ts";
import type { ProcessGroup } from "../watch/process-group.ts";
import { readReadiness } from "../watch/read-readiness.ts";
import { type Configured, createConfiguredBuilder } from "./build-configured.ts";
import { createConsoleBuilder } from "./build-console.ts";
import { buildEvents, type Events, joinObservers } from "./build-events.ts";
import { buildManagement } from "./build-management.ts";
import { buildMoney, type Money } from "./build-money.ts";
import { buildTelemetry, type Telemetry } from "./build-telemetry.ts";
import { ConfigReloader, type ReloaderStart, rejectReload } from "./config-reloader.ts";

/** How long after the maximum duration of a generation its hold, and its leases of limits, lapse. Milliseconds. */
const LEASE_MARGIN_MS = 60_000;

/** The number of bodies that are decompressed at the same time; more would not be faster. */
const UNPACKED_AT_ONCE = 2;
/** How long a compressed body waits for its turn. Milliseconds. */
const UNPACK_WAIT_MS = 30_000;

/** The environment of a gateway outside its process, which tests replace. */
export interface Platform {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads the configuration file again for a reload. By default the one that `environment` names. */
  readonly readFile?: () => FileConfig;
  /** Adapts each configuration that is read to this process. By default it stays as it is. */
  readonly adaptConfig?: (config: Config) => Config;
  /** Sets the level of `log` after a reload. */
  readonly setLogLevel?: (level: Config["log_level"]) => void;
  /** Reloads the configuration of all processes of a gateway. By default there is only this one. */
  readonly reloadAll?: (options: ReloadOptions) => Promise<ConfigReload>;
  /** Measures the time of database calls, for tests that control `clock`. Defaults to `clock`. */
  readonly databaseClock?: Clock;
  /** Replaces the threads of SQLite in tests. */
  readonly startStoreThread?: StartStoreThread;
  /** The other processes that share the port; absent for a process that runs alone. */
  readonly processes?: ProcessGroup;
  /** Replaces the network in tests. */
  readonly transport?: Transport;
  /** Replaces the gateway's own in tests whose requests must not influence each other. */
  readonly health?: Health;
  /** Extensions after the gateway's own, for tests. */
  readonly extensions?: readonly Extension[];
  /** Replaces the thread that counts tokens in tests. */
  readonly tokenCounter?: TokenCounter;
  /** Replaces the data directory in tests. */
  readonly resources?: Resources;
}

/** The contents of a data directory: the stores, the journal, and the served models, which depend on the stored catalog. */
interface Resources {
  readonly stores: Stores;
  readonly journal: Journal;
  readonly serving: ServingSource;
  /** The id of the gateway that has the data directory. No other running gateway has it, whichever stores they share. */
  readonly gatewayId: string;
  /** Closes the stores and unlocks the data directory. */
  release(): Promise<void>;
}

/** The joined parts that the lifecycle uses. */
export interface Parts extends Resources {
  readonly gateways: JoinedGateways;
  readonly recorder: Recorder;
  readonly usageTimes: TimesRecorder;
  readonly budgetWatch: BudgetWatch;
  readonly healthHistory: HealthHistory;
  /** The log of records that the store rejects. */
  readonly recordOutage: OutageLog;
  /** The health of the store, which the regular reading reports and requests check. */
  readonly health: StoreHealth;
  /** The dependencies of a request that begins now. A reload of the configuration replaces them. */
  readonly http: HttpDeps;
  readonly config: LiveConfig;
  readonly reloader: ConfigReloader;
  readonly upstreams: Upstreams;
  readonly common: CommonState;
  readonly telemetry: Telemetry;
  readonly events: Events;
}

/**
 * Builds all parts of a gateway with the configuration of its file and environment, and the stored settings.
 * @throws ConfigError, or Error if the data directory is locked or cannot be used.
 */
export async function wireUp(config: Config, platform: Platform): Promise<Parts> {
  const opened =
    platform.resources === undefined
      ? await openResources(config, platform)
      : withoutStored(config, platform, platform.resources);
  return buildParts({ platform, ...opened }).catch(async (error) => {
    opened.journal.close();
    await opened.release();
    throw error;
  });
}

/** The resources of a gateway, and the configuration with which they were opened. */
interface Opened extends Resources, Pick<Parts, "upstreams"> {
  readonly config: Config;
  readonly masters: MasterKeys;
  readonly vault: Vault;
  readonly started: ReloaderStart;
}

/** Returns given resources as they are opened without stored settings. */
function withoutStored(config: Config, platform: Platform, resources: Resources): Opened {
  const masters = openMasterKeys(config, platform.random);
  return {
    ...resources,
    config,
    masters,
    vault: createVault(masters, platform.random),
    upstreams: createUpstreams({ ...platform, config }),
    started: { stored: null, changes: 0, unapplied: null },
  };
}

async function buildParts({
  config,
  platform,
  upstreams,
  masters,
  vault,
  started,
  ...resources
}: { readonly platform: Platform } & Opened): Promise<Parts> {
  const { clock, random } = platform;
  const { stores, gatewayId } = resources;
  requireOidcSecret(config);
  const { stored, unapplied } = started;
  const gateways = await joinGateways({
    ...{ stores, clock, masters, id: gatewayId, dataDir: config.data_dir },
    describeConfig: () => describeGatewayConfig({ config, revision: stored?.revision ?? 0, unapplied }),
  });
  const { max_staleness_ms: maxStalenessMs } = config.storage;
  const health = new StoreHealth({ clock, maxStalenessMs });
  const live = new LiveConfig(config);
  const base: Base = { config, live, platform, gateways, health, ...resources };
  const money = buildMoney(base);
  const secrets = await buildSecrets(base, vault);
  const events = buildEvents({ ...base, ids: stores.ids });
  const { ledgerAlarm } = events;
  const serving = () => resources.serving.current();
  const telemetry = buildTelemetry({ ...base, serving, ledgerAlarm });
  const common = await buildCommonState(base);
  const healthHistory = buildHealthHistory(base, common);
  const { extensions, ...features } = buildFeatures(base, {
    ...{ ...secrets, common, telemetry, budgetWatch: money.budgetWatch, healthHistory },
    findPayer: () => principalOfAccount(fixed.callers.accountCache, DEFAULT_ACCOUNT_ID),
    generate: (call) => generate(current().generation, call),
  });
  const drains = new Drains({ store: stores.drains, changes: stores.changes });
  await drains.refresh();
  const parts = { ...money, ...secrets, ...common, extensions, drains, healthHistory };
  const generation = buildGeneration(base, parts);
  const reloader = buildReloader(base, { generation, vault, started });
  const managed = buildManagement({
    ...{ ...platform, ...base, ...money, ...secrets, healthHistory },
    runRefresh: refreshOf(base),
    storedConfig: {
      tryStored: (stored) => reloader.tryStored(stored),
      hasTriedSignIn: async (oidc) => stores.oidcTrials.hasSucceeded(hashOidcConfig(oidc), clock.now()),
      requireSealing: async () => {},
      async onChanged() {
        // If that fails, the next regular reading finds the change.
        await stores.changes.read().catch(() => {});
        await reloader.follow().catch(() => {});
      },
    },
  });
  const { promptLog, repeatable, shadow } = features;
  const responses = buildResponses(base, secrets);
  const rejections = new RejectionLog({
    ...platform,
    store: stores.rejections,
    isEnabled: () => live.current().storage.rejected_days > 0,
  });
  const fixed: FixedHttpDeps = {
    ...buildServer(base, { ...money, common, reloader }),
    callers: {
      ...managed.callers,
      addressSalt: await findSecret("address_salt", stores.settings, random),
    },
    resources: {
      ...managed.resources,
      storedResponses: stores.answers,
      webhooks: events.webhooks,
      reloadConfig: (options) =>
        (platform.reloadAll?.(options) ?? reloader.reload(options)).catch(rejectReload),
    },
    reports: {
      ...managed.reports,
      promptLog,
      rejections,
      generationFeed: createGenerationFeed(stores, platform),
    },
    features: { repeatable, shadow, responses },
  };
  const current = followConfig(base, { fixed, generation, telemetry, events, vault: secrets.vault });
  return {
    ...resources,
    gateways,
    recorder: money.recorder,
    usageTimes: money.usageTimes,
    budgetWatch: money.budgetWatch,
    healthHistory,
    recordOutage: money.recordOutage,
    health,
    get http() {
      return current();
    },
    config: live,
    reloader,
    upstreams,
    common,
    telemetry,
    events,
  };
}

/** The features that are attached to generations, and the parts of them that the HTTP layer calls. */
interface Features
  extends Pick<GenerationDeps, "extensions">,
    Pick<HttpDeps["reports"], "promptLog">,
    Pick<HttpDeps["features"], "repeatable" | "shadow"> {}

/** The inputs of the features. */
interface FeatureParts
  extends Pick<Secrets, "vault">,
    Pick<Parts, "common" | "telemetry" | "budgetWatch" | "healthHistory">,
    Pick<ShadowTrafficDeps, "findPayer" | "generate"> {}

function buildResponses({ platform, stores, live, gatewayId }: Base, { vault }: Secrets): ResponseObjects {
  const { clock, random, log } = platform;
  return new ResponseObjects({
    ...{ store: stores.responses, ids: stores.ids, vault, clock, random, log, gatewayId },
    settings: () => readResponseSettings(live.current()),
  });
}

function buildHealthHistory(
  { platform, stores, serving, gatewayId }: Base,
  { health }: CommonState,
): HealthHistory {
  return new HealthHistory({
    ...{ store: stores.healthHistory, clock: platform.clock, ids: stores.ids, gatewayId },
    health: platform.health ?? health,
    serving: () => serving.current(),
  });
}

function buildFeatures(
  { platform, stores, live }: Base,
  { vault, common, telemetry, budgetWatch, healthHistory, findPayer, generate }: FeatureParts,
): Features {
  const { clock, log, random } = platform;
  const promptLog = new PromptLog({ store: stores.promptLog, vault, random, clock, log });
  const answers = { store: common.answers, claims: stores.answers, clock, log };
  const repeatable = new RepeatableAnswers(answers);
  const shadow = new ShadowTraffic({ clock, random, log, findPayer, generate });
  const guardrails = new Guardrails({ log, onMatch: telemetry.onGuardrailMatch });
  const createHook = (hook: TextWebhookConfig) =>
    new TextWebhook(hook, { clock, log, onVerdict: telemetry.onGuardrailVerdict });
  const follow = (config: Config) => guardrails.replace(readGuardrails(config.guardrails, createHook));
  follow(live.current());
  live.subscribe(follow);
  // Guardrails come before the extensions that store, repeat or copy requests, so that these get only masked texts. A repeated request
  // begins no response of its own: it has the one of the first request. An answer of the cache is kept as a new response.
  const own = [promptLog, repeatable, BEGIN_RESPONSE, new AnswerCache(answers), shadow];
  const first = [createRequestLog({ clock, log }), guardrails, budgetWatch, healthHistory];
  const extensions = [...first, ...own];
  return { extensions, promptLog, repeatable, shadow };
}

/** The parts of `HttpDeps` that receive requests and no reload replaces. */
interface ServerDeps extends Pick<HttpDeps, "clock" | "log" | "ids" | "shutdown" | "readiness"> {
  readonly bodies: Pick<HttpDeps["bodies"], "ownTurn" | "unpackGate">;
  readonly sockets: Pick<HttpDeps["sockets"], "counts">;
}

function buildServer(
  { platform, stores, journal, health }: Base,
  { recorder, common, reloader }: Pick<Money, "recorder"> & Pick<Parts, "common" | "reloader">,
): ServerDeps {
  const { clock, log } = platform;
  const shutdown: HttpDeps["shutdown"] = { isDraining: false, answered: 0 };
  return {
    clock,
    log,
    ids: stores.ids,
    bodies: {
      ownTurn: createTurnLine(),
      unpackGate: createGate(clock, UNPACKED_AT_ONCE, UNPACK_WAIT_MS),
    },
    sockets: { counts: { open: 0, received: 0, sent: 0 } },
    shutdown,
    readiness: () =>
      readReadiness({
        ...{ recorder, journal, health, clock, common, shutdown },
        unapplied: () => reloader.unapplied,
      }),
  };
}

type FixedHttpDeps = Omit<HttpDeps, "generation" | "observers" | keyof Configured["http"]> & ServerDeps;
/** `extensions` are those that every request has. */
type FixedGenerationDeps = Omit<GenerationDeps, "settings">;

/** The dependencies of requests that no reload replaces, and the parts that observe requests as the configuration says. */
interface FixedDeps extends Pick<Parts, "telemetry" | "events">, Pick<Secrets, "vault"> {
  readonly fixed: FixedHttpDeps;
  readonly generation: FixedGenerationDeps;
}

/** Returns a function that returns the dependencies of requests under the configuration in force. */
function followConfig(
  { live, platform, stores }: Base,
  { fixed, generation, telemetry, events, vault }: FixedDeps,
): () => HttpDeps {
  const { clock, random, log } = platform;
  const { keyCache, accountCache } = fixed.callers;
  const { ids, consoleSessions, identities, oidcTrials } = stores;
  const build = createConfiguredBuilder({
    clock,
    rateLimiter: generation.rateLimiter,
    buildConsole: createConsoleBuilder({
      ...{ store: consoleSessions, identities, oidcTrials, stores, keyCache, accountCache, vault },
      ...{ clock, random, ids, log },
    }),
  });
  const assemble = (config: Config): HttpDeps => {
    const configured = build(config);
    const [measured, reported] = [telemetry.observe(config), events.observe(config)];
    const { requestObserver } = measured.observers;
    return {
      ...fixed,
      ...configured.http,
      bodies: { ...fixed.bodies, ...configured.http.bodies },
      sockets: { ...fixed.sockets, ...configured.http.sockets },
      observers: {
        ...measured.observers,
        requestObserver: joinObservers(requestObserver, reported.observer),
      },
      generation: {
        ...generation,
        settings: configured.generation,
        extensions: [
          ...generation.extensions,
          ...measured.extensions,
          ...reported.extensions,
          ...(platform.extensions ?? []),
        ],
      },
    };
  };
  let http = assemble(live.current());
  live.subscribe((config) => {
    http = assemble(config);
    keyCache.setAdminSecret(config.admin_key ?? null);
    platform.setLogLevel?.(config.log_level);
    void prepareModelLists(http);
  });
  return () => http;
}

/** The inputs of the reloader besides the platform. */
interface ReloaderSources {
  readonly generation: FixedGenerationDeps;
  readonly vault: Vault;
  readonly started: ReloaderStart;
}

function buildReloader(
  { live, platform, serving, stores, gateways }: Base,
  { generation, vault, started }: ReloaderSources,
): ConfigReloader {
  const { clock, random, log, environment, readFile, adaptConfig } = platform;
  const parts = { live, serving, stores, vault, started, environment, clock, random, log };
  return new ConfigReloader({
    ...parts,
    readFile: readFile ?? (() => readFileConfig(environment)),
    adapt: adaptConfig ?? keepConfig,
    report: (config) => stores.gateways.putConfig(gateways.identity, config),
    onProviderChanged(slug) {
      const keys = serving.current().servedModels.provider(slug)?.keys ?? [];
      generation.routing.health.forget(
        slug,
        keys.map(({ label }) => label),
      );
    },
  });
}

async function openResources(config: Config, platform: Platform): Promise<Opened> {
  const { log } = platform;
  prepareDataDir(config.data_dir, log);
  const lock = lockDataDir(config.data_dir);
  const opening = openStoresAtStart(config, platform).then(rejectIncompleteCopy);
  const stores = await opening.catch((error) => {
    lock.release();
    throw error;
  });
  if (stores.schema !== null)
    log.info("the stores are open", { stores: stores.location, schema: stores.schema });
  const release = async () => {
    await stores.close();
    lock.release();
  };
  try {
    return {
      stores,
      gatewayId: lock.gatewayId(await chooseGatewayId(stores)),
      ...(await openConfigured(config, platform, stores)),
      journal: openFileJournal(journalDirOf(config.data_dir)),
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Opens what depends on the configuration, with the stored settings. */
async function openConfigured(
  config: Config,
  platform: Platform,
  stores: Stores,
): Promise<Pick<Opened, "config" | "masters" | "vault" | "started" | "serving" | "upstreams">> {
  const { clock, random, log, environment, adaptConfig = keepConfig, setLogLevel } = platform;
  const masters = openMasterKeys(config, random);
  const vault = createVault(masters, random);
  const labels = new PlatformKeyLabels();
  await adoptFormer(stores, log);
  const start = await openStartConfig({
    ...{ config, environment, vault, store: stores.config, adapt: adaptConfig },
    async open(config) {
      const upstreams = createUpstreams({ ...platform, config });
      try {
        const sources = { config, environment, clock, labels, ...upstreams };
        return { upstreams, serving: await openServing(sources, stores, log) };
      } catch (error) {
        upstreams.close();
        throw error;
      }
    },
  });
  setLogLevel?.(start.config.log_level);
  return { config: start.config, masters, vault, started: start, ...start.opened };
}

function keepConfig(config: Config): Config {
  return config;
}

/** Opens the stores with the tables of this version. Waits for PostgreSQL. */
function openStoresAtStart(config: Config, platform: Platform): Promise<Stores> {
  const { clock, log, startStoreThread = startStoreWorker } = platform;
  const open = async () => {
    await migrateStores(config, platform);
    return openStores(config, { ...platform, startStoreThread });
  };
  return waitForDatabase(open, { clock, log, maxWaitMs: config.database.start_wait_ms });
}

/** The dependencies of all builders. */
interface Base extends Pick<Resources, "stores" | "journal" | "serving" | "gatewayId"> {
  /** The configuration of the start, for what no reload changes. */
  readonly config: Config;
  readonly live: LiveConfig;
  readonly platform: Platform;
  readonly gateways: JoinedGateways;
  readonly health: StoreHealth;
}

/** The parts that encrypt, decrypt and hash. */
interface Secrets {
  readonly vault: Vault;
  readonly byokKeys: ProviderKeyCache;
  readonly accountRoutes: AccountRoutes;
  /** The key of the hash of users' identities. */
  readonly identitySecret: string;
}

async function buildSecrets(
  { platform: { log, random }, stores, health }: Base,
  vault: Vault,
): Promise<Secrets> {
  const byokKeys = createProviderKeyCache({
    store: stores.providerKeys,
    health,
    vault,
    onUnreadable: ({ id, accountId }) =>
      log.error("a BYOK key cannot be decrypted: its master key is not in secrets.keys", {
        provider_key_id: id,
        account_id: accountId,
      }),
  });
  return {
    vault,
    byokKeys,
    accountRoutes: createAccountRoutes(stores.namedRoutes, health),
    identitySecret: await findSecret("identity_secret", stores.settings, random),
  };
}

async function buildCommonState({
  config,
  platform,
  stores,
  gateways,
  gatewayId,
}: Base): Promise<CommonState> {
  return openCommonState({
    ...platform,
    gatewayId,
    redisUrl: config.redis.url ?? null,
    isShared: stores.isShared,
    liveGateways: () => gateways.liveGateways(),
    joinRedis: async (redis) =>
      joinRedis({
        ...platform,
        redis,
        registry: stores.gateways,
        identity: gateways.identity,
        storeId: await findSecret("store_id", stores.settings, platform.random),
      }),
    secret: await findSecret("conversation_secret", stores.settings, platform.random),
    leaseMs: config.timers.total_ms + LEASE_MARGIN_MS,
    turnBytes: config.limits.turn_memory_bytes,
    answerBytes: config.limits.answer_memory_bytes,
  });
}

function buildGeneration(
  { platform, stores, serving, gatewayId }: Base,
  {
    recorder,
    ledger,
    byokKeys,
    accountRoutes,
    identitySecret,
    extensions,
    drains,
    rateLimiter,
    conversations,
    health,
    healthHistory,
  }: Money &
    Secrets &
    CommonState &
    Pick<GenerationDeps, "extensions"> &
    Pick<Parts, "healthHistory"> &
    Pick<GenerationDeps["routing"], "drains">,
): FixedGenerationDeps {
  const { clock, random, log } = platform;
  return {
    gatewayId,
    clock,
    log,
    random,
    ids: stores.ids,
    extensions,
    serving: () => serving.current(),
    accounts: { byokKeys, accountRoutes, hashIdentity: createIdentityHash(identitySecret) },
    routing: {
      health: platform.health ?? health,
      drains,
      recentFailures: createRecentFailures((call, failure) => healthHistory.recordFailure(call, failure)),
      learnedRefusals: createLearnedRefusals(),
      retryBudget: createRetryBudget(),
      affinity: createAffinityMemory(),
      cacheMemory: createCacheMemory(),
    },
    rateLimiter,
    recorder,
    ledger,
    conversations,
    clients: new ClientMemory(),
    tokenCounter: platform.tokenCounter ?? createTokenCounter(clock),
    requestEncoder: createRequestEncoder(clock, identitySecret),
    running: { beginnings: new WaitList(clock, WATCH_MS), active: new LinkedSet() },
  };
}

/** Returns a function that refreshes the catalog in a thread of its own. */
function refreshOf({ live, platform }: Base) {
  const { data_dir, database } = live.current();
  return (job: RefreshJob) => refreshInThread({ config: { data_dir, database }, job }, platform.clock);
}

/** Returns an id for a gateway at its first start. Version 0.1 kept the id of its only gateway in the settings. */
async function chooseGatewayId({ settings, ids, isShared }: Stores): Promise<string> {
  const former = isShared ? null : await settings.findSetting("gateway_id");
  return former ?? ids.next("gateway");
}
