import { SILENT } from "../../base/failures/log.ts";
import { StoreHealth } from "../../base/failures/store-health.ts";
import { findPromptLogEntry } from "../../core/extensions/prompt-log/prompt-log.ts";
import type { Serving } from "../../core/generation/call/call.ts";
import { createIdentityHash } from "../../core/generation/memory/identity-hash.ts";
import type { Credits } from "../../core/ledger/credits/credits.ts";
import { createAccountRoutes } from "../../core/named-routes/account-routes.ts";
import { createProviderKeyCache } from "../../core/provider-keys/provider-key-cache.ts";
import type { ProviderKeyStore } from "../../core/provider-keys/provider-key-store.ts";
import { createVault } from "../../core/provider-keys/vault.ts";
import type { StoreDeps } from "../../http/context/store-deps.ts";
import { ConfigError } from "../config/config-error.ts";
import { originsOf } from "../config/config-origins.ts";
import type { Config } from "../config/config-schema.ts";
import type { StoredConfig } from "../config/config-sources.ts";
import { diffConfigs } from "../config/diff-configs.ts";
import { LiveConfig } from "../config/live-config.ts";
import { combineConfig } from "../config/load-config.ts";
import { readPricingRules } from "../config/pricing-schema.ts";
import { readPolicy, readTimers } from "../config/read-settings.ts";
import { type ConfigCheckSources, findAllProblems } from "../serving/find-config-problems.ts";
import { openServing, type ServingSource } from "../serving/open-serving.ts";
import { createUpstreams } from "../serving/upstreams.ts";
import { adoptFormer } from "../stored-config/adopt-former.ts";
import type { TriedConfig } from "../stored-config/create-config-manager.ts";
import { openStartConfig, type StartSources } from "../stored-config/start-config.ts";
import { findSecret } from "../stores/find-secret.ts";
import { openMasterKeys } from "../stores/open-master-keys.ts";
import { requireSameSealing } from "../stores/sealing-gateway.ts";
import type { Stores } from "../stores/stores.ts";
import { buildManagement } from "./build-management.ts";
import type { Platform } from "./wire-up.ts";

/** The dependencies of management endpoints on stores, without a running gateway. */
interface Management {
  readonly deps: StoreDeps;
  /** Returns the configuration in force, with the stored settings. */
  config(): Config;
  /** Loads the served models. Until then an endpoint that asks for them rejects with `ModelsNotLoaded`. */
  loadModels(): Promise<void>;
  /** Saves what was measured of provider keys. The stores stay open. */
  close(): Promise<void>;
}

/**
 * Builds the dependencies of management endpoints for a command. A gateway may be running on the same stores. Invalid models or policies of
 * the configuration are reported when an endpoint needs the served models.
 */
export async function openManagement(
  fileConfig: Config,
  stores: Stores,
  { environment, random }: Pick<Platform, "environment" | "random">,
): Promise<Management> {
  const { clock } = stores;
  const masters = openMasterKeys(fileConfig, random);
  const vault = createVault(masters, random);
  await adoptFormer(stores, SILENT);
  const config = await addStored(fileConfig, { store: stores.config, vault, environment });
  const upstreams = createUpstreams({ config, environment, clock, log: SILENT });
  const serving = new LateServing(() =>
    openServing({ config, environment, clock, ...upstreams }, stores, SILENT),
  );
  const health = new StoreHealth({ clock, maxStalenessMs: config.storage.max_staleness_ms });
  const byokKeys = createProviderKeyCache({ store: stores.providerKeys, health, vault, onUnreadable() {} });
  const accountRoutes = createAccountRoutes(stores.namedRoutes, health);
  const live = new LiveConfig(config);
  const gatewayId = stores.ids.next("command");
  const managed = buildManagement({
    ...{
      live,
      environment,
      clock,
      stores,
      serving,
      gatewayId,
      health,
      vault,
      byokKeys,
    },
    ...{ ledger: ledgerOf(stores), usageTimes: { async flush() {} }, accountRoutes, random },
    storedConfig: {
      tryStored: (stored) => tryStored(live.current(), stored, { environment, clock, random }),
      hasTriedSignIn: async () => true,
      requireSealing: () => requireSameSealing(stores, masters),
      async onChanged() {
        live.replace(await addStored(fileConfig, { store: stores.config, vault, environment }), []);
        await serving.follow(live.current());
      },
    },
    healthHistory: { store: stores.healthHistory, async flush() {} },
  });
  const store = checkSealing(stores.providerKeys, () => requireSameSealing(stores, masters));
  const deps: StoreDeps = {
    ...managed,
    log: SILENT,
    browser: { oidcIssuer: config.console.oidc?.issuer ?? null },
    resources: {
      ...managed.resources,
      providerKeyStores: { ...managed.resources.providerKeyStores, store },
    },
    reports: {
      ...managed.reports,
      promptLog: {
        find: (id) => findPromptLogEntry({ store: stores.promptLog, vault, clock }, id),
        has: (id) => stores.promptLog.hasEntry(id, clock.now()),
      },
      rejections: {
        find: (id) => stores.rejections.findRejection(id),
        list: (query) => stores.rejections.listRejections(query),
      },
    },
    generation: {
      ...{ clock, gatewayId },
      serving: () => serving.current(),
      accounts: {
        byokKeys,
        accountRoutes,
        hashIdentity: createIdentityHash(await findSecret("identity_secret", stores.settings, random)),
      },
      settings: {
        policy: readPolicy(config),
        pricing: readPricingRules(config.pricing),
        timers: readTimers(config),
      },
      recorder: { async drain() {}, find: (id) => stores.usage.findUsage(id) },
      // Only the gateway that holds credits knows how much it holds.
      ledger: { balanceOf: async (id) => ({ ...(await stores.ledger.findBalance(id)), held: 0 }) },
    },
  };
  return {
    deps,
    config: () => live.current(),
    loadModels: () => serving.load(),
    async close() {
      await byokKeys.saveUses();
      upstreams.close();
    },
  };
}

/** Returns a configuration with the stored settings; without them if they cannot be applied, so that a command can replace them. */
async function addStored(
  config: Config,
  sources: Pick<StartSources<null>, "store" | "vault" | "environment">,
): Promise<Config> {
  try {
    const start = { ...sources, config, adapt: (read: Config) => read, open: async () => null };
    return (await openStartConfig(start)).config;
  } catch (error) {
    if (error instanceof ConfigError) return config;
    throw error;
  }
}

/** Returns the changes that a stored configuration would make. Rejects with a `ConfigError` with all of its problems. */
async function tryStored(
  config: Config,
  stored: StoredConfig,
  sources: ConfigCheckSources,
): Promise<TriedConfig> {
  const source = originsOf(config)?.source;
  if (source === undefined) throw new Error("a configuration without its file cannot take stored settings");
  const examined = combineConfig(source, stored, sources.environment);
  const { config: next, problems } = await findAllProblems(examined, sources);
  if (next === null || problems.length > 0) throw new ConfigError(problems);
  return { changes: diffConfigs(config, next), config: next, serving: null };
}

/** An endpoint has asked for the served models, which are not loaded. */
export class ModelsNotLoaded extends Error {}

/** Served models that are loaded when a command needs them, because loading takes longer than most commands. */
class LateServing implements Pick<ServingSource, "current" | "refresh"> {
  private loaded: ServingSource | null = null;
  private failure: unknown = new ModelsNotLoaded();

  constructor(private readonly open: () => Promise<ServingSource>) {}

  /** A problem of the configuration is thrown where the models are asked for. */
  async load(): Promise<void> {
    this.loaded ??= await this.open().catch((error) => {
      this.failure = error;
      return null;
    });
  }

  current(): Serving {
    if (this.loaded === null) throw this.failure;
    return this.loaded.current();
  }

  async refresh(): Promise<void> {
    await this.loaded?.refresh();
  }

  /** Serves the models of another configuration, which was checked. */
  async follow(config: Config): Promise<void> {
    (await this.loaded?.prepare(config))?.adopt();
  }
}

/** Moves credits without the balances of a running gateway, which reads the changes from the store. */
function ledgerOf({ ledger: store }: Stores): Credits["ledger"] {
  return { transfer: (transfer) => store.addTransfer(transfer), refund: (refund) => store.addRefund(refund) };
}

/** Returns a store of provider keys that rejects secrets which a running gateway could not decrypt. */
function checkSealing(store: ProviderKeyStore, requireSame: () => Promise<void>): ProviderKeyStore {
  const checked: Pick<ProviderKeyStore, "insertProviderKey" | "updateProviderKey"> = {
    async insertProviderKey(key) {
      await requireSame();
      await store.insertProviderKey(key);
    },
    async updateProviderKey(key, sealed) {
      if (sealed !== null) await requireSame();
      return store.updateProviderKey(key, sealed);
    },
  };
  return Object.assign(Object.create(store) as ProviderKeyStore, checked);
}
