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

/** Keyed by the object of one section, because copies of a configuration share it. */
const origins = new WeakMap<Config["timers"], ConfigOrigins>();

/** Returns the origins of the values of a configuration; null for a configuration that `checkConfig` did not read. */
export function originsOf({ timers }: Config): ConfigOrigins | null {
  return origins.get(timers) ?? null;
}

/** Makes a copy of a configuration whose sections were copied too have the origins of the original. */
export function adoptOrigins(copy: Config, original: Config): void {
  const found = originsOf(original);
  if (found !== null) origins.set(copy.timers, found);
}

/** Records where the values of a configuration come from. */
export function setOrigins({ timers }: Config, found: ConfigOrigins): void {
  origins.set(timers, found);
}
