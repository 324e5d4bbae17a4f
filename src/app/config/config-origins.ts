import type { ConfigPath, ConfigPlace } from "./config-error.ts";
import type { Config } from "./config-schema.ts";
import type { ReferringValue } from "./expand-references.ts";

/** The origins of a configuration's values. */
export interface ConfigOrigins {
  /** The configuration file, which may not exist. */
  readonly file: string;
  /** The content of the file, without sections that have no value, with its references expanded. */
  readonly written: Readonly<Record<string, unknown>>;
  /** The environment variable of each path that was set by one. */
  readonly variableAt: ReadonlyMap<string, string>;
  /** The values of the file that had references. */
  readonly referring: readonly ReferringValue[];
  /** Returns where a path is written in the file, or its longest prefix that exists. */
  readonly placeOf: (path: ConfigPath) => ConfigPlace;
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
