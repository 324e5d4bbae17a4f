import { SILENT } from "../../base/failures/log.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { CatalogStore } from "../../core/catalog/refresh/catalog-store.ts";
import { isTierName } from "../../core/catalog/tiers/tier-name.ts";
import { createFileCatalogStore } from "../../storage/files/catalog-store.ts";
import { loadCatalog } from "../catalog/load-catalog.ts";
import {
  ConfigError,
  type ConfigPath,
  type ConfigProblem,
  collectProblems,
  plainProblem,
} from "../config/config-error.ts";
import type { Config } from "../config/config-schema.ts";
import { findUnknownVariables } from "../config/environment-variables.ts";
import { findEndpointUrls, findOddPrices } from "../config/find-odd-values.ts";
import { type ExaminedConfig, examineConfig, problemAt, readConfigFile } from "../config/load-config.ts";
import type { Environment } from "../config/read-provider-keys.ts";
import {
  readExportSettings,
  readMetricsAllowed,
  readTrustedProxies,
  requireOidcSecret,
} from "../config/read-settings.ts";
import { openMasterKeys } from "../stores/open-master-keys.ts";
import { type BuiltServing, buildServing } from "./build-serving.ts";
import { findUnpricedModels } from "./configured-hosts.ts";
import { findGeographyWarnings } from "./copied-models.ts";
import { findServingProblems } from "./open-serving.ts";
import { createUpstreams } from "./upstreams.ts";

/** The problems of a configuration. */
export interface ConfigFindings {
  /** The configuration file; null if it cannot be read. */
  readonly file: string | null;
  /** The configuration, without the values that have problems; null if the rest cannot be checked. */
  readonly config: Config | null;
  /** The problems that prevent a start. */
  readonly problems: readonly ConfigProblem[];
  /** Values that are valid, but probably mistakes. */
  readonly warnings: readonly ConfigProblem[];
}

/** The sources of a configuration check. */
export interface ConfigCheckSources {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Reads everything that a start reads from the configuration and the environment, and finds all problems. Opens no connection, creates
 * nothing, and calls no provider. `file` replaces the default configuration file.
 */
export async function findConfigProblems(
  sources: ConfigCheckSources,
  file?: string,
): Promise<ConfigFindings> {
  const { environment } = sources;
  const problems: ConfigProblem[] = [];
  const found = collectProblems(problems, () => readConfigFile(environment, file));
  if (found === null) return { file: null, config: null, problems, warnings: [] };
  return { file: found.file, ...(await findAllProblems(examineConfig(found, environment), sources)) };
}

/** Finds all problems of a configuration whose sources were joined: those of its values, and those that a start would find. */
export async function findAllProblems(
  { config, problems: written }: ExaminedConfig,
  sources: ConfigCheckSources,
): Promise<Omit<ConfigFindings, "file">> {
  const problems = [...written];
  const warnings: ConfigProblem[] = [...findUnknownVariables(sources.environment, listHostVariables(config))];
  if (config !== null) {
    const further = await findFurtherProblems(config, sources);
    problems.push(...further.problems.filter((problem) => !isConsequence(problem, written)));
    warnings.push(...further.warnings.filter((warning) => !isConsequence(warning, written)));
  }
  return { config, problems, warnings };
}

/** Loads the configuration. If it has problems, throws all of those that a start would find. @throws ConfigError */
export async function requireSoundConfig(load: () => Config, sources: ConfigCheckSources): Promise<Config> {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { problems } = await findConfigProblems(sources);
    throw problems.length === 0 ? error : new ConfigError(problems);
  }
}

/** The variables of hosts that the configuration names. */
export function listHostVariables(config: Config | null): readonly string[] {
  return Object.keys(config?.providers ?? {}).map(
    (slug) => `${slug.toUpperCase().replace(/-/g, "_")}_BASE_URL`,
  );
}

/** Whether a problem may only be a consequence of one that is reported already: it is about the same provider, tier or section. */
function isConsequence({ path }: ConfigProblem, reported: readonly ConfigProblem[]): boolean {
  const DEPTH = 2;
  return reported.some(
    (problem) =>
      problem.path.length > 0 &&
      problem.path.slice(0, DEPTH).every((part, at) => path.length > at && part === path[at]),
  );
}

type Further = Pick<ConfigFindings, "problems" | "warnings">;

/** Finds problems that the schema cannot detect. */
async function findFurtherProblems(
  config: Config,
  { environment, clock, random }: ConfigCheckSources,
): Promise<Further> {
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  collectProblems(problems, () => openMasterKeys(config, random));
  collectProblems(problems, () => readTrustedProxies(config));
  collectProblems(problems, () => readMetricsAllowed(config));
  collectProblems(problems, () => requireOidcSecret(config));
  collectProblems(problems, () => readExportSettings(environment));
  const upstreams = createUpstreams({ config, environment, clock, log: SILENT });
  try {
    const catalog = await loadCatalog(storeOf(config));
    warnings.push(...catalog.problems.map(plainProblem));
    const serving = buildServing(catalog.data, { config, environment, clock, ...upstreams });
    for (const problem of findServingProblems(config, serving))
      (namesTier(config, problem.path) ? warnings : problems).push(problem);
    warnings.push(...serving.notices.map(plainProblem), ...findKeylessProviders(config, serving));
    warnings.push(
      ...findUnpricedModels(config, serving.catalog.models),
      ...findGeographyWarnings(config, serving.catalog.models),
      ...findOddPrices(config),
      ...findEndpointUrls(config, serving.catalog.providers, environment),
    );
  } catch (error) {
    problems.push(plainProblem((error as Error).message));
  } finally {
    upstreams.close();
  }
  return { problems, warnings };
}

/** Returns the store of imported catalogs in the data directory. The one in PostgreSQL is not read. */
function storeOf({ data_dir, database }: Config): CatalogStore {
  const files = createFileCatalogStore(data_dir);
  return database.url === undefined ? files : { ...files, readCatalog: async () => null };
}

/** Whether a path has the name of a tier. The tier may be a stored one; stores are not read here. */
function namesTier(config: Config, path: ConfigPath): boolean {
  let value: unknown = config;
  for (const part of path) value = (value as Readonly<Record<PropertyKey, unknown>> | undefined)?.[part];
  return typeof value === "string" && isTierName(value);
}

/** Finds configured providers without a known key, which only BYOK keys can use. */
function findKeylessProviders(config: Config, { catalog, servedModels }: BuiltServing): ConfigProblem[] {
  return Object.entries(config.providers).flatMap(([slug, { enabled }]) => {
    if (!enabled || (servedModels.provider(slug)?.keys.length ?? 0) > 0) return [];
    const names = catalog.provider(slug)?.env.apiKey ?? [];
    if (names.length === 0) return [];
    const text = `has no key: set ${names.join(" or ")}, or providers.${slug}.api_keys. Only BYOK keys of accounts are used for it`;
    return problemAt(config, ["providers", slug], text);
  });
}
