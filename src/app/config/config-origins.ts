import type { ConfigPath, ConfigPlace } from "./config-error.ts";
import type { Config } from "./config-schema.ts";
import type { FileConfig, StoredConfig } from "./config-sources.ts";
import type { ReferringValue } from "./expand-references.ts";

/** The origins of a configuration's values. */
export interface ConfigOrigins {
  /** The configuration file. */
  readonly source: FileConfig;
  /** The stored settings; null if none were added. */
  readonly stored: StoredConfig | null;
  /** The environment variable of each path that was set by one. */
  readonly variableAt: ReadonlyMap<string, string>;
  /** The values of the file and of the stored configuration that had references. */
  readonly referring: readonly ReferringValue[];
  /** Returns where a path is written in the file, or its longest prefix that exists; null for a stored setting. */
  readonly placeOf: (path: ConfigPath) => ConfigPlace | null;
}

/** The member with the origins. A symbol, because it is no setting, and one that copies of a configuration have, too. */
const ORIGINS = Symbol("origins");

interface Originated {
  readonly [ORIGINS]?: ConfigOrigins;
}

/** Returns the origins of the values of a configuration; null for a configuration that `checkConfig` did not read. */
export function originsOf(config: Config & Originated): ConfigOrigins | null {
  return config[ORIGINS] ?? null;
}

/** Returns a configuration with the origins of its values; null if they are not known. */
export function withOrigins(config: Config, origins: ConfigOrigins | null): Config {
  if (origins === null) return config;
  const originated: Config & Originated = { ...config, [ORIGINS]: origins };
  return originated;
}
