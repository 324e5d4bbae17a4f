import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { createIdSource, type IdSource } from "../base/ids.ts";
import type { Leases } from "../base/lease.ts";
import type { Log } from "../base/log.ts";
import { createTurnLine } from "../base/next-turn.ts";
import type { Random } from "../base/random.ts";
import { WaitList } from "../base/wait-list.ts";
import { createAccountCache } from "../core/accounts/account-cache.ts";
import type { AccountStore } from "../core/accounts/account-store.ts";
import { createKeyCache } from "../core/accounts/key-cache.ts";
import type { KeyStores } from "../core/accounts/manage-keys.ts";
import type { RateLimit } from "../core/accounts/rate-limit.ts";
import type { Policy } from "../core/accounts/records.ts";
import type { AuditStore } from "../core/audit/audit-store.ts";
import type { CatalogStore } from "../core/catalog/catalog-store.ts";
import type { Transport } from "../core/deployments/transport.ts";
import { PromptLog } from "../core/extensions/prompt-log/prompt-log.ts";
import type { PromptLogStore } from "../core/extensions/prompt-log/prompt-log-store.ts";
import { createRequestLog } from "../core/extensions/request-log.ts";
import type { GenerationDeps } from "../core/generation/call.ts";
import type { GenerationTimers } from "../core/generation/cancellation.ts";
import type { Extension } from "../core/generation/extension.ts";
import { createIdentityHash } from "../core/generation/identity-hash.ts";
import type { TokenCounter } from "../core/generation/token-counter.ts";
import { createUnreadAnswers } from "../core/generation/unread-answers.ts";
import type { StoredResponseStore } from "../core/idempotency/stored-response-store.ts";
import { Ledger } from "../core/ledger/ledger.ts";
import type { LedgerStore } from "../core/ledger/ledger-store.ts";
import { MemoryHoldBook } from "../core/ledger/memory-hold-book.ts";
import { createByteBudget } from "../core/limits/byte-budget.ts";
import { parseTrustedProxies } from "../core/limits/client-address.ts";
import { FreeLimit } from "../core/limits/free-limit.ts";
import { createGate } from "../core/limits/gate.ts";
import { createLimitList, type ListLimits } from "../core/limits/list-limits.ts";
import { MemoryRateLimiter } from "../core/limits/memory-rate-limiter.ts";
import { createProviderKeyCache, type ProviderKeyCache } from "../core/provider-keys/provider-key-cache.ts";
import type { ProviderKeyStore } from "../core/provider-keys/provider-key-store.ts";
import { createVault } from "../core/provider-keys/vault.ts";
import { createAffinityMemory } from "../core/routing/affinity.ts";
import { createHealth, type Health } from "../core/routing/health.ts";
import { createRetryBudget } from "../core/routing/retry-budget.ts";
import type { SettingsStore } from "../core/settings/settings-store.ts";
import type { DamagedLines, Journal } from "../core/usage/journal.ts";
import { Recorder } from "../core/usage/recorder.ts";
import type { UsageReports, UsageStore } from "../core/usage/usage-store.ts";
import { createRequestEncoder } from "../encoder/request-encoder.ts";
import type { HttpDeps } from "../http/context/context.ts";
import { createFetchTransport } from "../providers/fetch/transport.ts";
import { createHttp1Transport } from "../providers/http1/transport.ts";
import { createSandboxTransport } from "../providers/sandbox/sandbox-transport.ts";
import { makePrivateFolder } from "../storage/files/private-files.ts";
import { guardStore } from "../storage/guard-store.ts";
import { listDamagedLines } from "../storage/journal/damaged-lines.ts";
import { openFileJournal } from "../storage/journal/file-journal.ts";
import { createMemoryConversationStore } from "../storage/memory/conversation-store.ts";
import { SqliteAccountStore } from "../storage/sqlite/account-store.ts";
import { createSqliteAuditStore } from "../storage/sqlite/audit-store.ts";
import { isDataDirLocked, lockDataDir } from "../storage/sqlite/data-lock.ts";
import { openDatabase } from "../storage/sqlite/database.ts";
import { FileLeases } from "../storage/sqlite/file-leases.ts";
import { SqliteKeyStore } from "../storage/sqlite/key-store.ts";
import { SqliteLedgerStore } from "../storage/sqlite/ledger-store.ts";
import { createSqlitePromptLogStore } from "../storage/sqlite/prompt-log-store.ts";
import { createSqliteProviderKeyStore } from "../storage/sqlite/provider-key-store.ts";
import { createSqliteSettingsStore } from "../storage/sqlite/settings-store.ts";
import { createSqliteStoredResponseStore } from "../storage/sqlite/stored-response-store.ts";
import { SqliteUsageStore } from "../storage/sqlite/usage-store.ts";
import { createTokenCounter } from "../tokenizer/token-counter.ts";
import { createCatalogManager } from "./catalog-manager.ts";
import type { Config } from "./config-schema.ts";
import { prepareDataDir } from "./data-dir.ts";
import { ConfigError } from "./load-config.ts";
import { openCatalogStore, type StoreConfig } from "./open-catalog-store.ts";
import { openMasterKeys } from "./open-master-keys.ts";
import { openServing, type ServingSource } from "./open-serving.ts";
import { refreshInThread } from "./refresh-in-thread.ts";
import { recordSealingKey } from "./sealing-gateway.ts";
import { tellQuarantined } from "./tell-quarantined.ts";
import { createTroubleLog, type TroubleLog } from "./trouble-log.ts";

/** How much longer than the longest generation a hold is kept that nobody settles. Milliseconds. */
const HOLD_MARGIN_MS = 60_000;

/** Packed bodies that are unpacked at once; more would not be faster. */
const UNPACKED_AT_ONCE = 2;
/** How long one waits for its turn. Milliseconds. */
const UNPACK_WAIT_MS = 30_000;

/** The world outside: what a simulation replaces. */
export interface Platform {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** In place of the network, for tests. */
  readonly transport?: Transport;
  /** In place of one of its own, for tests whose requests are to know nothing of each other. */
  readonly health?: Health;
  /** Extensions after the gateway's own, for tests. */
  readonly extensions?: readonly Extension[];
  /** In place of the thread that counts tokens, for tests. */
  readonly tokenCounter?: TokenCounter;
  /** In place of the data directory, for tests. */
  readonly resources?: Resources;
}

/** What a gateway keeps, and who is served from: what its data directory gives it. */
export interface Resources {
  readonly stores: Stores;
  readonly journal: Journal;
  readonly serving: ServingSource;
  /** The id of the gateway that has the data directory. No other running gateway has it, whichever stores they share. */
  readonly gatewayId: string;
  /** Lets go of all of it. */
  release(): void;
}

/** The stores behind the ports, and how to let go of them. */
export interface Stores extends KeyStores {
  readonly accounts: AccountStore;
  readonly answers: StoredResponseStore;
  readonly audit: AuditStore;
  readonly catalog: CatalogStore;
  readonly leases: Leases;
  readonly ledger: LedgerStore;
  readonly promptLog: PromptLogStore;
  readonly providerKeys: ProviderKeyStore;
  readonly settings: SettingsStore;
  readonly usage: UsageStore & UsageReports;
  /** Lines of the journal that were damaged and are kept aside. */
  listDamagedLines(): readonly DamagedLines[];
  /** Returns whether a gateway runs on these stores. */
  isGatewayRunning(): Promise<boolean>;
  /** Names the stores in messages. */
  readonly location: string;
  close(): void;
}

/** All parts of a gateway, joined. */
export interface Parts {
  readonly stores: Stores;
  readonly journal: Journal;
  readonly recorder: Recorder;
  /** Hears of each record that journal or store refused. */
  readonly recordTrouble: TroubleLog;
  readonly serving: ServingSource;
  readonly http: HttpDeps;
  readonly transports: readonly Transport[];
  /** Lets go of the data directory. */
  release(): void;
  /** Set while the gateway drains; `readyz` says so. */
  readonly state: { isDraining: boolean };
}

/**
 * Opens the configured stores, and creates them if they do not exist. Gateway and commands open them here and nowhere else. Other
 * processes may have them open.
 */
export function openStores(config: StoreConfig, clock: Clock, random: Random): Stores {
  const dataDir = config.data_dir;
  makePrivateFolder(dataDir);
  const database = openDatabase(dataDir);
  return {
    keys: guardStore(new SqliteKeyStore(database)),
    accounts: guardStore(new SqliteAccountStore(database)),
    answers: guardStore(createSqliteStoredResponseStore(database)),
    audit: guardStore(createSqliteAuditStore(database)),
    catalog: openCatalogStore(config),
    leases: guardStore(new FileLeases(dataDir, clock)),
    ledger: guardStore(new SqliteLedgerStore(database)),
    promptLog: guardStore(createSqlitePromptLogStore(database)),
    providerKeys: guardStore(createSqliteProviderKeyStore(database)),
    usage: guardStore(new SqliteUsageStore(database)),
    settings: guardStore(createSqliteSettingsStore(database)),
    clock,
    random,
    ids: createIdSource(clock, random),
    listDamagedLines: () => listDamagedLines(journalDirOf(dataDir)),
    isGatewayRunning: async () => isDataDirLocked(dataDir),
    location: dataDir,
    close: () => database.close(),
  };
}

function journalDirOf(dataDir: string): string {
  return join(dataDir, "journal");
}

/** Joins all parts. The only function that knows every one of them. */
export async function wireUp(config: Config, platform: Platform): Promise<Parts> {
  const { clock, random, log, environment } = platform;
  const network = platform.transport ?? createTransport(config, environment, clock, log);
  const sandboxTransport = createSandboxTransport({ clock });
  const { stores, journal, serving, gatewayId, release } =
    platform.resources ?? (await openResources(config, platform, network, sandboxTransport));
  const recordTrouble = createTroubleLog(
    log,
    clock,
    "the store refused records; they wait in the journal",
    "records are written again",
  );
  const recorder = new Recorder({
    journal,
    store: stores.usage,
    clock,
    onStoreError: recordTrouble.met,
    onQuarantined(quarantined) {
      tellQuarantined(quarantined, log);
      ledger.takeBack(quarantined.record);
    },
  });
  const keyCache = createKeyCache(stores.keys, clock, config.admin_key ?? null);
  const state = { isDraining: false };
  const ledger = new Ledger({
    store: stores.ledger,
    holdBook: new MemoryHoldBook({ store: stores.ledger, drain: () => recorder.drain() }),
    recorder,
    clock,
    holdMs: config.timers.total_ms + HOLD_MARGIN_MS,
  });
  const masters = openMasterKeys(config, random);
  await recordSealingKey(stores.settings, masters);
  const vault = createVault(masters, random);
  const byokKeys = createProviderKeyCache(stores.providerKeys, vault, ({ id, accountId }) =>
    log.error("a provider key cannot be opened: its master key is not in secrets.keys", {
      provider_key_id: id,
      account_id: accountId,
    }),
  );
  const identitySecret = await findSecret("identity_secret", stores.settings, random);
  const promptLog = new PromptLog({ store: stores.promptLog, vault, random, clock, log });
  const generation: GenerationDeps = {
    ...buildGeneration(config, platform, stores.ids, recorder, ledger, serving, byokKeys),
    gatewayId,
    extensions: [createRequestLog({ clock, log }), promptLog, ...(platform.extensions ?? [])],
    hashIdentity: createIdentityHash(identitySecret),
    requestEncoder: createRequestEncoder(clock, identitySecret),
  };
  const http: HttpDeps = {
    clock,
    ids: stores.ids,
    log,
    keyCache,
    accountCache: createAccountCache(stores.accounts),
    keyStores: stores,
    audit: stores.audit,
    storedResponses: stores.answers,
    catalogManager: createCatalogManager({
      config,
      clock,
      store: stores.catalog,
      leases: stores.leases,
      owner: gatewayId,
      onChanged: () => serving.refresh(),
      runRefresh: (job) => refreshInThread({ config: { data_dir: config.data_dir }, job }, clock),
    }),
    providerKeyStores: { store: stores.providerKeys, vault, cache: byokKeys, clock, ids: stores.ids },
    generation,
    credits: { store: stores.ledger, ledger, clock, ids: stores.ids },
    usage: stores.usage,
    promptLog,
    listDamagedLines: stores.listDamagedLines,
    webhookSecret: config.billing.webhook_secret ?? null,
    trustedProxies: readProxies(config),
    addressSalt: await findSecret("address_salt", stores.settings, random),
    maxBodyBytes: config.limits.body_bytes,
    headerAliases: Object.entries(config.server.header_aliases),
    bodyBudget: createByteBudget(config.limits.total_body_bytes, holderBytesOf(config)),
    bodyWaits: new WaitList(clock, config.timers.client_silence_ms),
    ownTurn: createTurnLine(),
    unpackGate: createGate(clock, UNPACKED_AT_ONCE, UNPACK_WAIT_MS),
    modelPrefixAliases: config.server.model_prefix_aliases,
    notReady: () => {
      if (state.isDraining) return "The gateway is shutting down.";
      return recorder.isHealthy() ? null : "The store is away; records wait in the journal.";
    },
  };
  return {
    stores,
    journal,
    recorder,
    recordTrouble,
    serving,
    http,
    transports: [network, sandboxTransport],
    release,
    state,
  };
}

async function openResources(
  config: Config,
  { clock, random, log, environment }: Platform,
  network: Transport,
  sandboxTransport: Transport,
): Promise<Resources> {
  prepareDataDir(config.data_dir, log);
  const lock = lockDataDir(config.data_dir);
  const stores = openStores(config, clock, random);
  return {
    stores,
    gatewayId: lock.gatewayId(await chooseGatewayId(stores)),
    journal: openFileJournal(journalDirOf(config.data_dir)),
    serving: await openServing(
      { config, environment, clock, transport: network, sandboxTransport },
      stores.catalog,
      log,
    ),
    release() {
      stores.close();
      lock.release();
    },
  };
}

function buildGeneration(
  config: Config,
  { clock, random, log, health, tokenCounter = createTokenCounter(clock) }: Platform,
  ids: IdSource,
  recorder: Recorder,
  ledger: Ledger,
  serving: ServingSource,
  byokKeys: ProviderKeyCache,
): Omit<GenerationDeps, "gatewayId" | "extensions" | "hashIdentity" | "requestEncoder"> {
  const { limits } = config;
  const rateLimiter = new MemoryRateLimiter({ leaseMs: config.timers.total_ms + LEASE_SLACK_MS });
  return {
    clock,
    log,
    ids,
    serving: () => serving.current(),
    recorder,
    random,
    health: health ?? createHealth(),
    retryBudget: createRetryBudget(),
    affinity: createAffinityMemory(),
    byokKeys,
    ledger,
    holdBounds: { tokens: limits.hold_tokens, searches: limits.hold_searches },
    buyCreditsUrl: config.billing.buy_credits_url ?? null,
    rateLimiter,
    listLimits: buildLimitList(config),
    policy: readPolicy(config),
    conversations: createMemoryConversationStore({ clock, random, maxBytes: limits.turn_memory_bytes }),
    tokenCounter,
    freeLimit: new FreeLimit(rateLimiter, limits.free_requests_per_hour),
    timers: readTimers(config),
    unread: createUnreadAnswers(clock, config.timers.client_silence_ms, limits.total_unread_bytes),
    maxAttempts: limits.attempts,
    repeats: limits.repeats,
    active: new Set(),
  };
}

/** How long after a request's longest duration its lease ends by itself. Milliseconds. */
const LEASE_SLACK_MS = 60_000;

function buildLimitList({ limits }: Config): ListLimits {
  return createLimitList({
    key: readRateLimit(limits.per_key),
    account: readRateLimit(limits.per_account),
    model: readRateLimit(limits.per_model),
    models: Object.entries(limits.models ?? {}).map(([pattern, limit]) => [pattern, readRateLimit(limit)]),
    anonymousRequestsPerHour: limits.anonymous_requests_per_hour,
  });
}

function readRateLimit(limit: Config["limits"]["per_key"]): RateLimit {
  return {
    requestsPerMinute: limit.requests_per_minute ?? null,
    tokensPerMinute: limit.tokens_per_minute ?? null,
    concurrent: limit.concurrent ?? null,
  };
}

/** One caller may hold half of what there is for bodies, and always one body of the largest size. */
function holderBytesOf({ limits }: Config): number {
  return Math.max(Math.floor(limits.total_body_bytes / 2), limits.body_bytes);
}

function readPolicy({ policy }: Config): Policy {
  return {
    allowedModels: policy.allowed_models ?? null,
    deniedModels: policy.denied_models,
    allowedProviders: policy.allowed_providers ?? null,
    deniedProviders: policy.denied_providers,
    denyDataCollection: policy.deny_data_collection,
    zeroRetention: policy.zero_retention,
    // Of what an account is, not of what the operator allows.
    ownKeysOnly: false,
  };
}

/** How long a generation may wait for what. */
export function readTimers({ timers }: Config): GenerationTimers {
  return {
    connectMs: timers.connect_ms,
    firstTokenMs: timers.first_token_ms,
    silenceMs: timers.silence_ms,
    totalMs: timers.total_ms,
    failoverMs: timers.failover_ms,
    keepAliveMs: timers.keep_alive_ms,
  };
}

const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/** Speaks to providers over the network. */
export function createTransport(
  config: Config,
  environment: Platform["environment"],
  clock: Clock,
  log: Log,
): Transport {
  const { transport } = config.upstream;
  const hasProxy = PROXY_VARIABLES.some((name) => environment[name]);
  const useFetch = transport === "fetch" || (transport === "auto" && hasProxy);
  const onStrayBytes = (origin: string): void =>
    log.warn("an upstream sends bytes behind its answers; its connections are not reused for a while", {
      origin,
    });
  return useFetch ? createFetchTransport() : createHttp1Transport({ clock, onStrayBytes });
}

function readProxies(config: Config) {
  try {
    return parseTrustedProxies(config.server.trusted_proxies);
  } catch (error) {
    throw new ConfigError(`server.trusted_proxies: ${(error as Error).message}`);
  }
}

/** Returns an id for a gateway at its first start. Version 0.1 kept the id of its gateway in the settings. */
async function chooseGatewayId({ settings, ids }: Stores): Promise<string> {
  return (await settings.findSetting("gateway_id")) ?? ids.next("gateway");
}

/** Made once for a data directory, so that an address or a user keeps its hash across restarts. */
async function findSecret(name: string, settings: SettingsStore, random: Random): Promise<string> {
  await settings.addSetting(name, Buffer.from(random.bytes(32)).toString("hex"));
  return (await settings.findSetting(name)) as string;
}
