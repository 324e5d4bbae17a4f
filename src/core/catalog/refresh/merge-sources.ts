import type { ModelTakes } from "../records/records.ts";
import type { SourceModel, SourceProvider } from "./source-models-dev.ts";
import type { PricedModel, PricedProvider } from "./source-price-map.ts";

/** A model of both sources or of one. */
export interface MergedModel extends SourceModel {
  /** The claims of the price map about what the model takes. */
  readonly takes?: ModelTakes;
  /** Only the price map lists it. */
  readonly isFromPriceMap?: true;
  /** Counts only if models.dev lists the model at no provider. */
  readonly isOnlyIfNew?: true;
}

/** A provider with the models of both sources. */
interface MergedProvider {
  readonly id: string;
  readonly models: readonly MergedModel[];
}

const SNAPSHOT = /[-@](?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/**
 * Completes the models of models.dev with those of a newer price map. If both list a model, the price map decides its prices and what it
 * takes, and models.dev everything else. A dated snapshot that only the price map lists is left out if the model itself is listed.
 */
export function mergeSources(
  listed: readonly SourceProvider[],
  priced: readonly PricedProvider[],
): readonly MergedProvider[] {
  const left = new Map(priced.map(({ id, models }) => [id, models]));
  const merged = listed.map(({ id, models }) => {
    const further = left.get(id) ?? [];
    left.delete(id);
    return { id, models: mergeModels(models, further) };
  });
  return [...merged, ...[...left].map(([id, models]) => ({ id, models: mergeModels([], models) }))];
}

function mergeModels(listed: readonly SourceModel[], priced: readonly PricedModel[]): MergedModel[] {
  const byName = new Map(priced.map((model) => [model.id.toLowerCase(), model]));
  const names = new Set([...listed, ...priced].map(({ id }) => id.toLowerCase()));
  const known = listed.map((model) => {
    const other = byName.get(model.id.toLowerCase());
    byName.delete(model.id.toLowerCase());
    return other === undefined ? model : mergeModel(model, other);
  });
  const added = [...byName].filter(
    ([name]) => !SNAPSHOT.test(name) || !names.has(name.replace(SNAPSHOT, "")),
  );
  return [...known, ...added.map(([, model]) => ({ ...model, isFromPriceMap: true as const }))];
}

function mergeModel(listed: SourceModel, priced: PricedModel): MergedModel {
  return { ...listed, cost: mergeCost(listed.cost, priced.cost), takes: priced.takes };
}

type Cost = SourceModel["cost"];

/**
 * Returns the price map's prices. Prices that only models.dev has are kept while both agree about prompt and completion; otherwise
 * they belong to earlier prices. Zero in the price map means that it knows no price.
 */
function mergeCost(listed: Cost, priced: Cost): Cost {
  if (priced === undefined || !isPriced(priced)) return listed;
  if (listed === undefined || !["input", "output"].every((name) => isSame(listed[name], priced[name])))
    return priced;
  const { context_over_200k: _, tiers: __, ...rest } = listed;
  return { ...(priced["tiers"] === undefined ? listed : rest), ...priced };
}

function isPriced(cost: NonNullable<Cost>): boolean {
  return Number(cost["input"] ?? 0) > 0;
}

/** Compares for the choice of a source only; amounts are never computed from floats. */
function isSame(a: unknown, b: unknown): boolean {
  return Math.abs(Number(a) - Number(b)) < 1e-9;
}
