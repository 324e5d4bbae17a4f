import type { ModelEndpoint, ModelRecord } from "../records/records.ts";
import type { Catalog } from "./catalog.ts";

/** A model endpoint with its model. */
export interface FoundEndpoint {
  readonly model: ModelRecord;
  readonly endpoint: ModelEndpoint;
}

const indexes = new WeakMap<Catalog, ReadonlyMap<string, FoundEndpoint>>();

/**
 * Finds the endpoint by the name that the provider uses for the model; null if the catalog has none. If the full name is
 * unknown, it is compared without a date or version at its end.
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

/** Removes a version or date: `claude-opus-4-5@20251101` and `claude-opus-4-5-20251101` become `claude-opus-4-5`. */
function shorten(name: string): string {
  return name.replace(/@.*$/, "").replace(/-20\d{6}$/, "");
}
