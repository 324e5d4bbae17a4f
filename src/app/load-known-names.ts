import type { Log } from "../base/log.ts";
import type { KnownNames } from "../core/catalog/known-names.ts";
import { createSandboxTransport } from "../providers/sandbox/sandbox-transport.ts";
import type { Config } from "./config-schema.ts";
import { openServing } from "./open-serving.ts";
import type { Environment } from "./read-provider-keys.ts";
import { createTransport, type Stores } from "./wire-up.ts";

/**
 * The models, providers and tiers that a gateway with this configuration and data directory knows, for a command that stores
 * their names. Nobody is called.
 * @throws ConfigError
 */
export async function loadKnownNames(
  config: Config,
  environment: Environment,
  { catalog, clock }: Pick<Stores, "catalog" | "clock">,
): Promise<KnownNames> {
  const transport = createTransport(config, environment, clock, SILENT);
  const sandboxTransport = createSandboxTransport({ clock });
  try {
    const sources = { config, environment, clock, transport, sandboxTransport };
    return (await openServing(sources, catalog, SILENT)).current();
  } finally {
    transport.close();
    sandboxTransport.close();
  }
}

/** The gateway tells what is wrong with the catalog; a command is about something else. */
export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
