import { dateOf } from "../../base/time.ts";
import type { ModelEndpoint, PriceChange, Prices, PriceTier } from "./records.ts";

/** An endpoint's prices at one time, with their tiers. */
export interface PriceRow {
  /** Null: no known price. */
  readonly prices: Prices | null;
  readonly priceTiers?: readonly PriceTier[];
}

/** All that an endpoint says of its prices: those of today, and those that are announced. */
export interface PriceTerms extends PriceRow {
  readonly priceChanges?: readonly PriceChange[];
}

/** The prices of an endpoint that are in force at a time, milliseconds since the epoch: of its changes the last that has come. */
export function findPriceRow(endpoint: PriceTerms, at: number): PriceRow {
  const { priceChanges } = endpoint;
  if (priceChanges === undefined) return endpoint;
  const day = dateOf(at);
  return priceChanges.findLast(({ from }) => from <= day) ?? endpoint;
}

/** The endpoint as it is at a time, without changes that have come or are to come. */
export function endpointAt(endpoint: ModelEndpoint, at: number): ModelEndpoint {
  const { priceChanges, priceTiers: _, ...rest } = endpoint;
  if (priceChanges === undefined) return endpoint;
  const { prices, priceTiers } = findPriceRow(endpoint, at);
  return { ...rest, prices, ...(priceTiers === undefined ? {} : { priceTiers }) };
}
