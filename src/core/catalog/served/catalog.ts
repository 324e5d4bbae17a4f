import { isFreeId } from "../records/is-free-id.ts";
import type { CatalogData, ModelRecord, ProviderRecord } from "../records/records.ts";
import { EndpointIndex, type FoundEndpoint } from "./endpoint-index.ts";
import { createSuggester, type SuggestNames } from "./suggest-names.ts";

/** The indexed catalog in memory. Immutable; a reload creates another one. */
export interface Catalog {
  /** Where the catalog data comes from. */
  readonly source: string;
  /** Sorted by id. */
  readonly models: readonly ModelRecord[];
  /** Sorted by slug. */
  readonly providers: readonly ProviderRecord[];
  /** Returns the model with this id, ignoring case. */
  find(id: string): ModelRecord | undefined;
  provider(slug: string): ProviderRecord | undefined;
  /** The free models. */
  readonly freeModels: readonly ModelRecord[];
  /**
   * Finds the endpoint by the name that a provider uses for the model; null if the catalog has none. If the full name is unknown, it is
   * compared without its trailing date or version.
   */
  findEndpoint(provider: string, name: string): FoundEndpoint | null;
  /** Returns the model that a provider serves under an id, or under its own name of the model. */
  findAt(provider: string, name: string): ModelRecord | undefined;
  /** Suggests model ids for error texts. */
  readonly suggest: SuggestNames;
  /** Suggests provider slugs for error texts. */
  readonly suggestProvider: SuggestNames;
}

/** Returns the id of a model in the spelling of the catalog, ignoring case. Returns the given name if the catalog does not have the model. */
export function canonicalModel(catalog: Pick<Catalog, "find">, id: string): string {
  return catalog.find(id)?.id ?? id;
}

/** Indexes a catalog. The suggesters and the index of endpoints are created on first use. */
export function createCatalog(data: CatalogData): Catalog {
  const models = new Map(data.models.map((model) => [model.id, model]));
  const byLowerCase = new Map(data.models.map((model) => [model.id.toLowerCase(), model]));
  const providers = new Map(data.providers.map((provider) => [provider.slug, provider]));
  let suggestModel: SuggestNames | null = null;
  let suggestProvider: SuggestNames | null = null;
  let endpoints: EndpointIndex | null = null;
  const find: Catalog["find"] = (id) => models.get(id) ?? byLowerCase.get(id.toLowerCase());
  const findEndpoint: Catalog["findEndpoint"] = (provider, name) => {
    endpoints ??= new EndpointIndex(data.models);
    return endpoints.find(provider, name);
  };
  return {
    source: data.source,
    models: data.models,
    providers: data.providers,
    find,
    provider: (slug) => providers.get(slug),
    freeModels: data.models.filter(({ id }) => isFreeId(id)),
    findEndpoint,
    findAt(provider, name) {
      const model = find(name);
      const isThere = model?.endpoints.some((endpoint) => endpoint.provider === provider) === true;
      return isThere ? model : findEndpoint(provider, name)?.model;
    },
    suggest(id, limit) {
      suggestModel ??= createSuggester([...models.keys()]);
      return suggestModel(id, limit);
    },
    suggestProvider(slug, limit) {
      suggestProvider ??= createSuggester([...providers.keys()]);
      return suggestProvider(slug, limit);
    },
  };
}
