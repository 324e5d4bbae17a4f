import type { CatalogData, ModelRecord, ProviderRecord } from "../records/records.ts";
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
  /** Suggests model ids for error texts. */
  readonly suggest: SuggestNames;
  /** Suggests provider slugs for error texts. */
  readonly suggestProvider: SuggestNames;
}

/** Returns the id of a model as records have it, whatever its case; for a model that is not in the catalog, what was asked for. */
export function canonicalModel(catalog: Pick<Catalog, "find">, id: string): string {
  return catalog.find(id)?.id ?? id;
}

/** Indexes a catalog. The suggesters are created on first use. */
export function createCatalog(data: CatalogData): Catalog {
  const models = new Map(data.models.map((model) => [model.id, model]));
  const byLowerCase = new Map(data.models.map((model) => [model.id.toLowerCase(), model]));
  const providers = new Map(data.providers.map((provider) => [provider.slug, provider]));
  let suggestModel: SuggestNames | null = null;
  let suggestProvider: SuggestNames | null = null;
  return {
    source: data.source,
    models: data.models,
    providers: data.providers,
    find: (id) => models.get(id) ?? byLowerCase.get(id.toLowerCase()),
    provider: (slug) => providers.get(slug),
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
