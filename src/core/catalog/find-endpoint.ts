import type { Catalog } from "./catalog.ts";
import type { ModelEndpoint, ModelRecord } from "./records.ts";

/** A model at a provider. */
export interface FoundEndpoint {
  readonly model: ModelRecord;
  readonly endpoint: ModelEndpoint;
}

const indexes = new WeakMap<Catalog, ReadonlyMap<string, FoundEndpoint>>();

/**
 * The endpoint of the name by which a provider itself speaks of a model; null where the catalog has none. Days and versions at
 * the end of a name are left out where the whole name is unknown.
 */
export function findEndpoint(catalog: Catalog, provider: string, name: string): FoundEndpoint | null {
  let index = indexes.get(catalog);
  if (index === undefined) {
    index = indexEndpoints(catalog);
    indexes.set(catalog, index);
  }
  return index.get(`${provider}/${name}`) ?? index.get(`${provider}/${shorten(name)}`) ?? null;
}

function indexEndpoints({ models }: Catalog): ReadonlyMap<string, FoundEndpoint> {
  const index = new Map<string, FoundEndpoint>();
  for (const model of models) {
    for (const endpoint of model.endpoints) {
      const short = `${endpoint.provider}/${shorten(endpoint.name)}`;
      if (!index.has(short)) index.set(short, { model, endpoint });
    }
  }
  for (const model of models)
    for (const endpoint of model.endpoints)
      index.set(`${endpoint.provider}/${endpoint.name}`, { model, endpoint });
  return index;
}

/** `claude-opus-4-5@20251101` and `claude-opus-4-5-20251101` are `claude-opus-4-5`. */
function shorten(name: string): string {
  return name.replace(/@.*$/, "").replace(/-20\d{6}$/, "");
}
