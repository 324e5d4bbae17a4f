import type { StoreHealth } from "../../base/failures/store-health.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import { createAccountCache } from "../../core/accounts/memory/account-cache.ts";
import { createKeyCache } from "../../core/accounts/memory/key-cache.ts";
import type { Credits } from "../../core/ledger/credits/credits.ts";
import type { AccountRoutes } from "../../core/named-routes/account-routes.ts";
import { NamedRouteManager } from "../../core/named-routes/route-manager.ts";
import type { ProviderKeyCache } from "../../core/provider-keys/provider-key-cache.ts";
import type { Vault } from "../../core/provider-keys/vault.ts";
import { ManagedResponses } from "../../core/response-objects/manage/managed-responses.ts";
import type { ConfigManager } from "../../core/stored-config/config-manager.ts";
import type { HttpDeps } from "../../http/context/context.ts";
import { ServedPages } from "../../http/context/served-pages.ts";
import type { StoreDeps } from "../../http/context/store-deps.ts";
import { type CatalogManagerOptions, createCatalogManager } from "../catalog/catalog-manager.ts";
import { createTierManager } from "../catalog/tier-manager.ts";
import { listSettings } from "../config/list-settings.ts";
import type { LiveConfig } from "../config/live-config.ts";
import type { Environment } from "../config/read-provider-keys.ts";
import { readResponseSettings } from "../config/read-settings.ts";
import { readJsonSchema } from "../config/schema-paths.ts";
import { listConfiguredRoutes } from "../serving/load-named-routes.ts";
import type { ServingSource } from "../serving/open-serving.ts";
import { type ConfigManagerParts, createConfigManager } from "../stored-config/create-config-manager.ts";
import { createOperatorRoutes } from "../stored-config/operator-routes.ts";
import type { Stores } from "../stores/stores.ts";

/** The managers of resources, for a gateway and for commands. */
interface ManagementParts extends Pick<CatalogManagerOptions, "runRefresh"> {
  readonly live: LiveConfig;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly stores: Stores;
  readonly serving: Pick<ServingSource, "current" | "refresh">;
  /** The owner of the leases of this process. */
  readonly gatewayId: string;
  readonly health: StoreHealth;
  readonly ledger: Credits["ledger"];
  readonly vault: Vault;
  readonly byokKeys: ProviderKeyCache;
  readonly usageTimes: HttpDeps["reports"]["usageTimes"];
  readonly healthHistory: HttpDeps["reports"]["healthHistory"];
  readonly accountRoutes: AccountRoutes;
  readonly random: Random;
  /** How a stored configuration is tried and applied here. */
  readonly storedConfig: Pick<
    ConfigManagerParts,
    "tryStored" | "hasTriedSignIn" | "requireSealing" | "onChanged"
  >;
}

/** The dependencies of management endpoints that no reload replaces. */
interface ManagementDeps extends Pick<StoreDeps, "clock" | "callers" | "resources"> {
  readonly reports: Pick<StoreDeps["reports"], "usage" | "usageTimes" | "healthHistory">;
}

/** Builds what identifies callers and manages resources. */
export function buildManagement(parts: ManagementParts): ManagementDeps {
  const { live, environment, clock, stores, serving, health, ledger, vault, byokKeys, random } = parts;
  const { ids } = stores;
  const stored = buildConfigManager(parts);
  const adminSecret = live.current().admin_key ?? null;
  return {
    clock,
    callers: {
      keyCache: createKeyCache({ store: stores.keys, health, clock, adminSecret }),
      accountCache: createAccountCache(stores, health),
    },
    resources: {
      consoleSessions: stores.consoleSessions,
      identities: stores.identities,
      keyStores: stores,
      budgets: stores.budgets,
      audit: stores.audit,
      gateways: stores.gateways,
      ...buildManagers(parts, stored),
      config: stored,
      configSchema: readJsonSchema,
      providerKeyStores: { store: stores.providerKeys, vault, cache: byokKeys, clock, ids },
      responses: new ManagedResponses({
        ...{ store: stores.responses, vault, random, clock },
        settings: () => readResponseSettings(live.current()),
      }),
      credits: { store: stores.ledger, ledger, clock, ids },
      listDamagedLines: stores.listDamagedLines,
      pages: new ServedPages(),
      listSettings: () => listSettings({ live, environment, providers: serving.current().catalog.providers }),
    },
    reports: {
      usage: stores.usage,
      usageTimes: parts.usageTimes,
      healthHistory: parts.healthHistory,
    },
  };
}

function buildConfigManager({
  live,
  environment,
  clock,
  random,
  stores,
  serving,
  gatewayId,
  vault,
  storedConfig,
}: ManagementParts): ConfigManager {
  return createConfigManager({
    ...{ stores, vault, clock, random, gatewayId, environment, ...storedConfig },
    config: () => live.current(),
    providers: () => serving.current().catalog.providers,
  });
}

function buildManagers(
  { live, clock, stores, serving, gatewayId, accountRoutes, runRefresh }: ManagementParts,
  stored: ConfigManager,
) {
  const config = () => live.current();
  const onChanged = () => refreshServing({ stores, serving });
  return {
    catalogManager: createCatalogManager({
      ...{ config, clock, onChanged, store: stores.catalog, leases: stores.leases, owner: gatewayId },
      ...(runRefresh === undefined ? {} : { runRefresh }),
    }),
    tierManager: createTierManager({ config, stored }),
    routeManager: new NamedRouteManager({
      store: stores.namedRoutes,
      clock,
      operator: createOperatorRoutes(stored, () => listConfiguredRoutes(config())),
      onChanged: (accountId) => accountRoutes.changed(accountId),
    }),
  };
}

/** Serves what this process has just stored. */
async function refreshServing({
  stores,
  serving,
}: Pick<ManagementParts, "stores" | "serving">): Promise<void> {
  // If that fails, the next regular reading finds the change.
  await stores.changes.read().catch(() => {});
  await serving.refresh();
}
