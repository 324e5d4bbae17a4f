import { dateOf } from "../../base/time.ts";
import { compareText } from "./format-catalog.ts";
import { findPriceJumps, type PriceJump } from "./price-jumps.ts";
import type { PriceTerms } from "./price-row.ts";
import type { ModelEndpoint, ModelRecord } from "./records.ts";

/** A change of an endpoint's prices that is not in force: it waits for the operator, or they have rejected it. */
export interface HeldChange {
  /** The same as long as the source says the same. */
  readonly id: string;
  readonly model: string;
  readonly provider: string;
  /** The model's name at the provider. */
  readonly name: string;
  readonly before: PriceTerms;
  readonly after: PriceTerms;
  /** Why it waits. */
  readonly jumps: readonly PriceJump[];
  /** When it was first seen. Milliseconds since the epoch. */
  readonly seenAt: number;
}

/** What a refresh goes by. */
export interface RefreshTerms {
  /** A plain decimal; prices that change by more wait. */
  readonly factor: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly waiting: readonly HeldChange[];
  readonly rejected: readonly HeldChange[];
}

/** The catalog after a refresh, and what is held back of it. */
export interface Refreshed {
  readonly models: readonly ModelRecord[];
  readonly waiting: readonly HeldChange[];
  readonly rejected: readonly HeldChange[];
}

interface Merge extends RefreshTerms {
  readonly nowWaiting: HeldChange[];
  readonly stillRejected: HeldChange[];
}

/**
 * Joins what a source lists with the catalog as it is. What the source does not list any more is marked with the day and
 * stays; what it lists again loses its mark. A price that changes beyond the factor keeps its old terms and is held. Pure.
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
      endpoints: model.endpoints.map((endpoint) => markMissing(model.id, endpoint, merge)),
    });
  return {
    models: models.sort((a, b) => compareText(a.id, b.id)),
    waiting: merge.nowWaiting,
    rejected: merge.stillRejected,
  };
}

/** What is in force of an endpoint's prices. */
export function termsOf({ prices, priceTiers, priceChanges }: PriceTerms): PriceTerms {
  return {
    prices,
    ...(priceTiers === undefined ? {} : { priceTiers }),
    ...(priceChanges === undefined ? {} : { priceChanges }),
  };
}

/** The endpoint with other prices. */
export function withTerms(endpoint: ModelEndpoint, terms: PriceTerms): ModelEndpoint {
  const { prices: _, priceTiers: __, priceChanges: ___, ...rest } = endpoint;
  return { ...rest, ...termsOf(terms) };
}

function mergeModel(before: ModelRecord, after: ModelRecord, merge: Merge): ModelRecord {
  const endpoints = after.endpoints.map((endpoint) => {
    const old = findSame(before, endpoint);
    return old === undefined ? endpoint : mergeEndpoint(after.id, old, endpoint, merge);
  });
  const gone = before.endpoints.filter(
    (old) => !after.endpoints.some((endpoint) => isSameOffer(old, endpoint)),
  );
  if (gone.length === 0) return { ...after, endpoints };
  const all = [...endpoints, ...gone.map((old) => markMissing(after.id, old, merge))];
  return { ...after, endpoints: all.sort((a, b) => compareText(a.provider, b.provider)) };
}

/** Under a new name at its provider it is the same deployment as far as prices go. */
function findSame({ endpoints }: ModelRecord, endpoint: ModelEndpoint): ModelEndpoint | undefined {
  return (
    endpoints.find((old) => isSameOffer(old, endpoint)) ??
    endpoints.find(({ provider }) => provider === endpoint.provider)
  );
}

function isSameOffer(a: ModelEndpoint, b: ModelEndpoint): boolean {
  return a.provider === b.provider && a.name === b.name;
}

function mergeEndpoint(
  model: string,
  before: ModelEndpoint,
  after: ModelEndpoint,
  merge: Merge,
): ModelEndpoint {
  const jumps = findPriceJumps(before, after, merge.factor, merge.now);
  if (jumps.length === 0) return after;
  const { provider, name } = after;
  const terms = termsOf(after);
  const id = nameChange(model, after, terms);
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
  return withTerms(after, before);
}

/** What was decided of it holds when it comes back as it was; what waits has nothing to wait for. */
function markMissing(model: string, endpoint: ModelEndpoint, merge: Merge): ModelEndpoint {
  const isOfEndpoint = (change: HeldChange) =>
    change.model === model && change.provider === endpoint.provider && change.name === endpoint.name;
  merge.stillRejected.push(...merge.rejected.filter(isOfEndpoint));
  return endpoint.missingSince === undefined ? { ...endpoint, missingSince: dateOf(merge.now) } : endpoint;
}

const ID_CHARS = 12;

function nameChange(model: string, { provider, name }: ModelEndpoint, terms: PriceTerms): string {
  const text = JSON.stringify([model, provider, name, terms]);
  return `change_${Bun.SHA256.hash(text, "hex").slice(0, ID_CHARS)}`;
}
