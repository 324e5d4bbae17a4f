import type { CatalogData, ModelRecord, ProviderRecord } from "./records.ts";
import { createSuggester, type SuggestNames } from "./suggest-names.ts";

/** The catalog in memory, indexed. Never changes; a reload makes a new one. */
export interface Catalog {
  /** Where the facts come from. */
  readonly source: string;
  /** By id. */
  readonly models: readonly ModelRecord[];
  /** By slug. */
  readonly providers: readonly ProviderRecord[];
  /** The model of that id, in any letter case. */
  find(id: string): ModelRecord | undefined;
  provider(slug: string): ProviderRecord | undefined;
  /** Ids that look like this one, the likeliest first, at most `limit`; for the text of an error. */
  readonly suggest: SuggestNames;
  /** The same for providers' slugs. */
  readonly suggestProvider: SuggestNames;
}

/** Indexes a catalog. What suggesting needs is made when it is first asked for. */
export function createCatalog(data: CatalogData): Catalog {
  const models = new Map(data.models.map((model) => [model.id, model]));
  const providers = new Map(data.providers.map((provider) => [provider.slug, provider]));
  let suggestModel: SuggestNames | null = null;
  let suggestProvider: SuggestNames | null = null;
  return {
    source: data.source,
    models: data.models,
    providers: data.providers,
    find: (id) => models.get(id) ?? models.get(id.toLowerCase()),
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
