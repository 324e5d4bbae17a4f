import type { Vault } from "../../core/provider-keys/vault.ts";
import type { ConfigStore } from "../../core/stored-config/config-store.ts";
import { ConfigError, type ConfigProblem, plainProblem } from "../config/config-error.ts";
import { originsOf } from "../config/config-origins.ts";
import type { Config } from "../config/config-schema.ts";
import type { StoredConfig } from "../config/config-sources.ts";
import { combineConfig } from "../config/load-config.ts";
import type { Environment } from "../config/read-provider-keys.ts";
import { expandStored, openSecrets } from "./read-stored.ts";

/** A stored revision that is not in force. */
export interface UnappliedRevision {
  readonly revision: number;
  readonly problems: readonly ConfigProblem[];
}

/** The configuration of a start: that of file and environment with stored settings, and what was opened with it. */
export interface StartedConfig<Opened> {
  readonly config: Config;
  /** The stored settings in it; null for none. */
  readonly stored: StoredConfig | null;
  /** The number of changes that the store had before it was read. */
  readonly changes: number;
  /** The latest stored revision, if it cannot be applied and an earlier one is in force. */
  readonly unapplied: UnappliedRevision | null;
  readonly opened: Opened;
}

/** The inputs of the configuration of a start. */
export interface StartSources<Opened> {
  /** The configuration of file and environment. */
  readonly config: Config;
  readonly environment: Environment;
  readonly store: ConfigStore;
  readonly vault: Pick<Vault, "open">;
  /** Adapts each configuration to this process. */
  readonly adapt: (config: Config) => Config;
  /** Opens what depends on the configuration. Rejects with a `ConfigError` if it cannot be applied. */
  readonly open: (config: Config) => Promise<Opened>;
}

/** The number of revisions that a start tries, the latest first. */
const MAX_TRIED = 10;

/**
 * Reads the stored configuration and opens what depends on it. If the latest revision cannot be applied, because this gateway has another
 * file or version, the latest one that can is applied. A start without any of them would serve without the stored policy.
 * @throws ConfigError with the problems of the latest revision, if none can be applied.
 */
export async function openStartConfig<Opened>(sources: StartSources<Opened>): Promise<StartedConfig<Opened>> {
  const { config, store, vault, open } = sources;
  const changes = await store.configChanges();
  const heads = await store.listConfigRevisions(null, MAX_TRIED);
  if (heads.length === 0)
    return { config, stored: null, changes, unapplied: null, opened: await open(config) };
  const findSecret = openSecrets(await store.listConfigSecrets(), vault);
  let unapplied: UnappliedRevision | null = null;
  for (const head of heads) {
    const one = await store.findConfigRevision(head.revision);
    if (one === null) continue;
    const stored = expandStored(one, findSecret);
    try {
      const combined = combineStart(sources, stored);
      return { config: combined, stored, changes, unapplied, opened: await open(combined) };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      unapplied ??= { revision: one.revision, problems: error.problems };
    }
  }
  throw new ConfigError([...(unapplied?.problems ?? []), plainProblem(describeUnusable(heads[0]?.revision))]);
}

function describeUnusable(revision: number | undefined): string {
  return `Revision ${revision} of the stored configuration and the ${MAX_TRIED} before it cannot be applied together with this file and environment. Correct them, or store another configuration: \`gateway config apply\`.`;
}

function combineStart<Opened>(
  { config, environment, adapt }: StartSources<Opened>,
  stored: StoredConfig,
): Config {
  const source = originsOf(config)?.source;
  if (source === undefined) throw new Error("a configuration without its file cannot take stored settings");
  const combined = combineConfig(source, stored, environment);
  if (combined.config === null || combined.problems.length > 0) throw new ConfigError(combined.problems);
  return adapt(combined.config);
}
