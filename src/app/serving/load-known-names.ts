import type { Log } from "../../base/failures/log.ts";
import type { KnownNames } from "../../core/catalog/served/known-names.ts";
import type { Config } from "../config/config-schema.ts";
import type { Environment } from "../config/read-provider-keys.ts";
import type { Stores } from "../stores/stores.ts";
import { openServing } from "./open-serving.ts";
import { createUpstreams } from "./upstreams.ts";

/**
 * Loads the names of the models, providers and tiers of a gateway with this configuration and data directory, for commands that
 * store such names. No provider is called.
 * @throws ConfigError
 */
export async function loadKnownNames(
  config: Config,
  environment: Environment,
  { catalog, tiers, namedRoutes, clock }: Pick<Stores, "catalog" | "tiers" | "namedRoutes" | "clock">,
): Promise<KnownNames> {
  const upstreams = createUpstreams({ config, environment, clock, log: SILENT });
  try {
    const sources = { config, environment, clock, ...upstreams };
    return (await openServing(sources, { catalog, tiers, namedRoutes }, SILENT)).current();
  } finally {
    upstreams.close();
  }
}

/** For commands: problems of the catalog are logged by the gateway. */
export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
