import { dateOf } from "../../../base/time/time.ts";
import type { ModelEndpoint, PriceChange, Prices, PriceTier } from "../records/records.ts";

/** An endpoint's prices and price tiers at one time. */
export interface PriceRow {
  /** Null if no price is known. */
  readonly prices: Prices | null;
  readonly priceTiers?: readonly PriceTier[];
}

/** An endpoint's current and announced prices. */
export interface PriceTerms extends PriceRow {
  readonly priceChanges?: readonly PriceChange[];
}

/** Returns the prices of an endpoint in force at a time, milliseconds since the epoch. */
export function findPriceRow(endpoint: PriceTerms, at: number): PriceRow {
  const { priceChanges } = endpoint;
  if (priceChanges === undefined) return endpoint;
  const day = dateOf(at);
  return priceChanges.findLast(({ from }) => from <= day) ?? endpoint;
}

/** Returns the endpoint with its prices at a time, milliseconds since the epoch, and without price changes. */
export function endpointAt(endpoint: ModelEndpoint, at: number): ModelEndpoint {
  const { priceChanges, priceTiers: _, ...rest } = endpoint;
  if (priceChanges === undefined) return endpoint;
  const { prices, priceTiers } = findPriceRow(endpoint, at);
  return { ...rest, prices, ...(priceTiers === undefined ? {} : { priceTiers }) };
}
