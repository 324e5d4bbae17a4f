import type { Log } from "../../base/failures/log.ts";
import { nextTurn } from "../../base/time/next-turn.ts";
import { dateOf } from "../../base/time/time.ts";
import { findNextChange } from "../../core/catalog/records/expiry.ts";
import type { CatalogWithFamilies } from "../../core/catalog/records/records.ts";
import type { CatalogStore } from "../../core/catalog/refresh/catalog-store.ts";
import { findUnknownNames, type KnownNames, type NameList } from "../../core/catalog/served/known-names.ts";
import type { Serving } from "../../core/generation/call/call.ts";
import { loadCatalog } from "../catalog/load-catalog.ts";
import { type ConfigProblem, formatProblem } from "../config/config-error.ts";
import type { Config } from "../config/config-schema.ts";
import { ConfigError, problemAt } from "../config/load-config.ts";
import { type BuiltServing, buildServing, hasSameModels, replaceNames } from "./build-serving.ts";
import type { ServingSources } from "./serve-provider.ts";

/** The models and providers that are served, kept up to date with the catalog store and the calendar. */
export interface ServingSource {
  current(): Serving;
  /** Messages to the operator about the configuration. */
  readonly notices: readonly string[];
  /**
   * Reloads the catalog if the stored one has changed, or on a day on which prices change or models end. An invalid catalog is logged and
   * changes nothing. Never throws.
   */
  refresh(): Promise<void>;
  /** Builds the served models of another configuration, with the same catalog. Nothing changes before it is adopted. */
  prepare(config: Config): Promise<PreparedServing>;
}

/** The served models of another configuration. */
export interface PreparedServing {
  /** Calls made with it leave no trace in the models that are served now. */
  readonly serving: Serving;
  readonly problems: readonly ConfigProblem[];
  /** Serves it from now on. Must be called only without problems. */
  adopt(): void;
}

/** The store that models are served from. */
interface ServingStores {
  readonly catalog: CatalogStore;
}

/**
 * Loads the catalog and joins it with the configuration.
 * @throws ConfigError for an invalid configuration, an override that cannot be applied, and a policy with unknown names.
 */
export async function openServing(
  sources: ServingSources,
  stores: ServingStores,
  log: Log,
): Promise<ServingSource> {
  const version = await stores.catalog.readVersion();
  const { data, problems } = await loadCatalog(stores.catalog);
  if (problems.length > 0) log.warn("the imported catalog is not used", { detail: problems.join("; ") });
  const serving = buildServing(data, sources);
  const found = findServingProblems(sources.config, serving);
  if (found.length > 0) throw new ConfigError(found);
  return new StoredServing({ sources, stores, log }, { data, serving, version });
}

/** Returns the problems of a configuration that show only after the served models are built. */
export function findServingProblems(config: Config, serving: BuiltServing): readonly ConfigProblem[] {
  const { providerProblems, copyProblems, overrideProblems } = serving;
  return [
    ...providerProblems,
    ...copyProblems,
    ...overrideProblems,
    ...findUnknownConfigNames(config, serving),
  ];
}

interface ServingDeps {
  readonly sources: ServingSources;
  readonly stores: ServingStores;
  readonly log: Log;
}

interface ServingState {
  readonly data: CatalogWithFamilies;
  readonly serving: BuiltServing;
  /** The version of the stored catalog that was read last, even if it was invalid. */
  readonly version: string;
}

/** The maximum number of models that one log line names. */
const LOGGED_MODELS = 20;

class StoredServing implements ServingSource {
  notices: readonly string[];
  /** The next date on which prices change or models end; null if none is known. */
  private nextChange: string | null;
  /** The models without a price that were logged last. */
  private unpriced = "";
  /** One refresh runs at a time. */
  private refreshing: Promise<void> = Promise.resolve();

  constructor(
    private deps: ServingDeps,
    private state: ServingState,
  ) {
    this.notices = state.serving.notices;
    this.nextChange = nextChangeOf(state.serving);
    this.logUnpriced(state.serving);
  }

  /** Logs which served models have no price, once until they change. */
  private logUnpriced({ servedModels }: BuiltServing): void {
    const names = servedModels.models.flatMap(({ id, endpoints }) =>
      endpoints.some(({ isPriceUnknown }) => isPriceUnknown === true) ? [id] : [],
    );
    const models = names.slice(0, LOGGED_MODELS).join(", ");
    if (models === this.unpriced) return;
    this.unpriced = models;
    if (names.length > 0)
      this.deps.log.warn("models have no price, so their answers are not charged", {
        models,
        count: names.length,
        remedy: "set prices under providers, 0 for those that are free",
      });
  }

  current(): Serving {
    return this.state.serving;
  }

  refresh(): Promise<void> {
    this.refreshing = this.refreshing.then(() => this.refreshNow());
    return this.refreshing;
  }

  async prepare(config: Config): Promise<PreparedServing> {
    await this.refreshing;
    // Building blocks the event loop for long.
    await nextTurn();
    const sources = { ...this.deps.sources, config };
    const built = this.state;
    const serving = hasSameModels(config, this.deps.sources.config)
      ? replaceNames(built.serving, config)
      : buildServing(built.data, sources);
    return {
      serving,
      problems: findServingProblems(config, serving),
      adopt: () => {
        this.deps = { ...this.deps, sources };
        const isCurrent = this.state.data === built.data && this.state.serving === built.serving;
        if (isCurrent) this.serve(serving, built.data);
        else this.build(this.state.data);
      },
    };
  }

  private serve(serving: BuiltServing, data: CatalogWithFamilies): void {
    this.state = { ...this.state, data, serving };
    this.notices = serving.notices;
    this.nextChange = nextChangeOf(serving);
    this.logUnpriced(serving);
  }

  private async refreshNow(): Promise<void> {
    const { sources, stores, log } = this.deps;
    try {
      const version = await stores.catalog.readVersion();
      if (version !== this.state.version) await this.reload(version);
      else if (this.nextChange !== null && dateOf(sources.clock.now()) >= this.nextChange)
        this.build(this.state.data);
    } catch (error) {
      log.warn("the catalog could not be refreshed; the current one stays in use", { detail: String(error) });
    }
  }

  private async reload(version: string): Promise<void> {
    const { stores, log } = this.deps;
    this.state = { ...this.state, version };
    const { data, problems } = await loadCatalog(stores.catalog);
    if (problems.length > 0) {
      log.warn("the imported catalog is not used; the current one stays in use", {
        detail: problems.join("; "),
      });
      return;
    }
    // Loading and building each block the event loop for long.
    await nextTurn();
    this.build(data);
    log.info("catalog refreshed", { source: data.source, models: data.models.length });
  }

  private build(data: CatalogWithFamilies): void {
    const { sources, log } = this.deps;
    const serving = buildServing(data, sources);
    if (serving.providerProblems.length > 0) throw new ConfigError(serving.providerProblems);
    this.serve(serving, data);
    for (const problem of serving.overrideProblems)
      log.warn("an override no longer fits the catalog and is not applied", {
        detail: formatProblem(problem),
      });
  }
}

function nextChangeOf({ catalog, servedModels }: BuiltServing): string | null {
  return findNextChange(catalog.models, servedModels.day);
}

/**
 * Returns a problem for each unknown name in the operator's policy and in the rate limits of models. Only a start and a reload of the
 * configuration check them: a refreshed catalog may lose a model.
 */
function findUnknownConfigNames(config: Config, known: KnownNames): readonly ConfigProblem[] {
  const { policy, limits } = config;
  const patterns = Object.keys(limits.models ?? {});
  const lists: readonly NameList[] = [
    { field: "policy.allowed_models", kind: "model", names: policy.allowed_models, use: "allow" },
    { field: "policy.denied_models", kind: "model", names: policy.denied_models },
    { field: "policy.allowed_providers", kind: "provider", names: policy.allowed_providers },
    { field: "policy.denied_providers", kind: "provider", names: policy.denied_providers },
    { field: LIMITS, kind: "model", names: patterns, use: "answer" },
  ];
  return [...findUnknownNames(known, lists)].map(({ field, index, problem }) => {
    const last = field === LIMITS ? (patterns[index] as string) : index;
    return problemAt(config, [...field.split("."), last], problem);
  });
}

const LIMITS = "limits.models";
