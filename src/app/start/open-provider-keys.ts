import { StoreHealth } from "../../base/failures/store-health.ts";
import type { Serving } from "../../core/generation/call/call.ts";
import type { ProviderKeyStores } from "../../core/provider-keys/manage-provider-keys.ts";
import { createProviderKeyCache } from "../../core/provider-keys/provider-key-cache.ts";
import { createVault } from "../../core/provider-keys/vault.ts";
import type { TryDeps } from "../../core/questions/try-provider-key.ts";
import type { Config } from "../config/config-schema.ts";
import { readTimers } from "../config/read-settings.ts";
import { SILENT } from "../serving/load-known-names.ts";
import { openServing } from "../serving/open-serving.ts";
import { createUpstreams } from "../serving/upstreams.ts";
import { openMasterKeys } from "../stores/open-master-keys.ts";
import { openStores } from "../stores/open-stores.ts";
import { requireSameSealing } from "../stores/sealing-gateway.ts";
import type { Stores } from "../stores/stores.ts";
import type { Platform } from "./wire-up.ts";

/** The dependencies of commands that manage BYOK keys. */
export interface ProviderKeyServices {
  readonly stores: Stores;
  readonly providerKeyStores: ProviderKeyStores;
  readonly serving: Serving;
  /** For test calls with a key. */
  readonly trying: TryDeps;
  /** @throws Error if the running gateway encrypts with another master key: it could not decrypt what is stored here. */
  requireSameSealing(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a data directory to manage BYOK keys. A gateway may run on it.
 * @throws ConfigError
 */
export async function openProviderKeys(
  config: Config,
  { environment, clock, random }: Pick<Platform, "environment" | "clock" | "random">,
): Promise<ProviderKeyServices> {
  const stores = await openStores(config, { clock, random });
  const upstreams = createUpstreams({ config, environment, clock, log: SILENT });
  const sources = { config, environment, clock, ...upstreams };
  const masters = openMasterKeys(config, random);
  const vault = createVault(masters, random);
  const health = new StoreHealth({ clock, maxStalenessMs: config.storage.max_staleness_ms });
  const cache = createProviderKeyCache({ store: stores.providerKeys, health, vault, onUnreadable() {} });
  return {
    stores,
    providerKeyStores: { store: stores.providerKeys, vault, cache, clock, ids: stores.ids },
    serving: (await openServing(sources, stores, SILENT)).current(),
    trying: { clock, timers: readTimers(config) },
    requireSameSealing: () => requireSameSealing(stores, masters),
    async close() {
      await cache.saveUses();
      upstreams.close();
      await stores.close();
    },
  };
}
