import { compareText } from "./format-catalog.ts";
import type { CatalogData, ModelRecord, ProviderRecord } from "./records.ts";

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
  suggest(id: string, limit: number): string[];
}

const LEAST_LIKENESS = 0.35;
const SUGGEST_CHARS = 256;

/** Indexes a catalog. What suggesting needs is made when it is first asked for. */
export function createCatalog(data: CatalogData): Catalog {
  const models = new Map(data.models.map((model) => [model.id, model]));
  const providers = new Map(data.providers.map((provider) => [provider.slug, provider]));
  let shapes: readonly Shape[] | null = null;
  return {
    source: data.source,
    models: data.models,
    providers: data.providers,
    find: (id) => models.get(id) ?? models.get(id.toLowerCase()),
    provider: (slug) => providers.get(slug),
    suggest(id, limit) {
      shapes ??= data.models.map((model) => shapeOf(model.id));
      return suggestFrom(shapes, id, limit);
    },
  };
}

/** An id as the pairs of letters in its name, by which spellings are compared. */
interface Shape {
  readonly id: string;
  readonly pairs: ReadonlySet<string>;
}

function shapeOf(id: string): Shape {
  const name = id
    .slice(id.indexOf("/") + 1)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < name.length; at++) pairs.add(name.slice(at, at + 2));
  return { id, pairs };
}

function suggestFrom(shapes: readonly Shape[], id: string, limit: number): string[] {
  const wanted = shapeOf(id.slice(0, SUGGEST_CHARS));
  return shapes
    .map((shape) => ({ id: shape.id, likeness: likenessOf(wanted.pairs, shape.pairs) }))
    .filter((candidate) => candidate.likeness >= LEAST_LIKENESS)
    .sort((a, b) => b.likeness - a.likeness || a.id.length - b.id.length || compareText(a.id, b.id))
    .slice(0, limit)
    .map((candidate) => candidate.id);
}

/** Dice's coefficient: twice what is shared over the sum of both. */
function likenessOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared++;
  return (2 * shared) / (a.size + b.size);
}
