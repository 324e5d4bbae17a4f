import { sha256 } from "../../../base/secrets/hash.ts";
import { dateOf } from "../../../base/time/time.ts";
import { findPriceJumps, type PriceJump } from "../prices/price-jumps.ts";
import type { PriceTerms } from "../prices/price-row.ts";
import { compareText } from "../records/format-catalog.ts";
import type { ModelEndpoint, ModelRecord } from "../records/records.ts";

/** A change of an endpoint's prices that is not in force: it awaits the operator's decision, or was rejected. */
export interface HeldChange {
  /** Derived from the endpoint and its new prices, so that the same change keeps its id. */
  readonly id: string;
  readonly model: string;
  readonly provider: string;
  /** The model's name at the provider. */
  readonly name: string;
  readonly before: PriceTerms;
  readonly after: PriceTerms;
  /** The prices that change beyond the factor. */
  readonly jumps: readonly PriceJump[];
  /** When it was first seen. Milliseconds since the epoch. */
  readonly seenAt: number;
}

/** The parameters of a refresh. */
export interface RefreshTerms {
  /** A plain decimal. Price changes beyond this factor are held. */
  readonly factor: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly waiting: readonly HeldChange[];
  readonly rejected: readonly HeldChange[];
  /** The sources include a price map, so endpoints that only such a map lists can be counted as missing. */
  readonly hasPriceMap?: boolean;
}

/** The catalog after a refresh, and its held changes. */
interface Refreshed {
  readonly models: readonly ModelRecord[];
  readonly waiting: readonly HeldChange[];
  readonly rejected: readonly HeldChange[];
}

interface Merge extends RefreshTerms {
  readonly nowWaiting: HeldChange[];
  readonly stillRejected: HeldChange[];
}

/**
 * Merges the models of a source into the current catalog. Endpoints that the source no longer lists stay, with the day as `missingSince`,
 * which is removed when it lists them again. If an endpoint's price changes beyond the factor, it keeps its prices and the change is held.
 * A refresh without a price map does not count endpoints as missing that came from one, unless the source lists the model under another
 * name at the same provider. What a model takes is kept where the sources do not mention it. Pure.
 */
export function mergeRefresh(
  current: readonly ModelRecord[],
  fetched: readonly ModelRecord[],
  terms: RefreshTerms,
): Refreshed {
  const merge: Merge = { ...terms, nowWaiting: [], stillRejected: [] };
  const left = new Map(current.map((model) => [model.id, model]));
  const models = fetched.map((model) => {
    const before = left.get(model.id);
    left.delete(model.id);
    return before === undefined ? model : mergeModel(before, model, merge);
  });
  for (const model of left.values())
    models.push({
      ...model,
      endpoints: model.endpoints.map((endpoint) => keepGone(model.id, endpoint, [], merge)),
    });
  return {
    models: models.sort((a, b) => compareText(a.id, b.id)),
    waiting: merge.nowWaiting,
    rejected: merge.stillRejected,
  };
}

/** Returns the price fields of an endpoint alone. */
function termsOf({ prices, priceTiers, priceChanges }: PriceTerms): PriceTerms {
  return {
    prices,
    ...(priceTiers === undefined ? {} : { priceTiers }),
    ...(priceChanges === undefined ? {} : { priceChanges }),
  };
}

/** Returns the endpoint with other prices. */
export function withTerms(endpoint: ModelEndpoint, terms: PriceTerms): ModelEndpoint {
  const { prices: _, priceTiers: __, priceChanges: ___, ...rest } = endpoint;
  return { ...rest, ...termsOf(terms) };
}

function mergeModel(before: ModelRecord, after: ModelRecord, merge: Merge): ModelRecord {
  const endpoints = after.endpoints.map((endpoint) => {
    const old = findSame(before, endpoint);
    return old === undefined ? endpoint : mergeEndpoint(after.id, { before: old, after: endpoint }, merge);
  });
  const takes = { ...before.takes, ...after.takes };
  const merged = Object.keys(takes).length === 0 ? after : { ...after, takes };
  const gone = before.endpoints.filter(
    (old) => !after.endpoints.some((endpoint) => isSameEndpoint(old, endpoint)),
  );
  if (gone.length === 0) return { ...merged, endpoints };
  const all = [...endpoints, ...gone.map((old) => keepGone(after.id, old, endpoints, merge))];
  return { ...merged, endpoints: all.sort((a, b) => compareText(a.provider, b.provider)) };
}

/** Finds the endpoint to compare prices with: the one at the same provider, even if the provider uses another name for the model. */
function findSame({ endpoints }: ModelRecord, endpoint: ModelEndpoint): ModelEndpoint | undefined {
  return (
    endpoints.find((old) => isSameEndpoint(old, endpoint)) ??
    endpoints.find(({ provider }) => provider === endpoint.provider)
  );
}

function isSameEndpoint(a: ModelEndpoint, b: ModelEndpoint): boolean {
  return a.provider === b.provider && a.name === b.name;
}

function mergeEndpoint(
  model: string,
  { before, after }: { readonly before: ModelEndpoint; readonly after: ModelEndpoint },
  merge: Merge,
): ModelEndpoint {
  const jumps = findPriceJumps(before, after, merge);
  const { provider, name } = after;
  if (jumps.length === 0) return keepTakes(before, after);
  const terms = termsOf(after);
  const id = changeIdOf(model, after, terms);
  const isChange = (change: HeldChange) => change.id === id;
  const rejected = merge.rejected.find(isChange);
  if (rejected !== undefined) merge.stillRejected.push(rejected);
  else {
    const seenAt = merge.waiting.find(isChange)?.seenAt ?? merge.now;
    merge.nowWaiting.push({
      id,
      model,
      provider,
      name,
      before: termsOf(before),
      after: terms,
      jumps,
      seenAt,
    });
  }
  return withTerms(keepTakes(before, after), before);
}

/** Keeps an endpoint's differences from its model in what they take, because models.dev does not have them. */
function keepTakes(before: ModelEndpoint, after: ModelEndpoint): ModelEndpoint {
  if (before.takesHere === undefined || after.takesHere !== undefined) return after;
  return isSameEndpoint(before, after) ? { ...after, takesHere: before.takesHere } : after;
}

/** Keeps an endpoint that the source does not list. `listed` are the endpoints of its model that it lists. */
function keepGone(
  model: string,
  endpoint: ModelEndpoint,
  listed: readonly ModelEndpoint[],
  merge: Merge,
): ModelEndpoint {
  const isRenamed = listed.some(({ provider }) => provider === endpoint.provider);
  if (endpoint.fromPriceMap === true && merge.hasPriceMap !== true && !isRenamed) return endpoint;
  return markMissing(model, endpoint, merge);
}

/** Marks an endpoint as missing. Its rejected changes are kept in case it is listed again; its waiting changes are dropped. */
function markMissing(model: string, endpoint: ModelEndpoint, merge: Merge): ModelEndpoint {
  const isOfEndpoint = (change: HeldChange) =>
    change.model === model && change.provider === endpoint.provider && change.name === endpoint.name;
  merge.stillRejected.push(...merge.rejected.filter(isOfEndpoint));
  return endpoint.missingSince === undefined ? { ...endpoint, missingSince: dateOf(merge.now) } : endpoint;
}

const ID_CHARS = 12;

function changeIdOf(model: string, { provider, name }: ModelEndpoint, terms: PriceTerms): string {
  const text = JSON.stringify([model, provider, name, terms]);
  return `change_${sha256(text, "hex").slice(0, ID_CHARS)}`;
}
