import { findPrices, priceWhole } from "../../src/core/catalog/prices/price-usage.ts";
import type { ModelEndpoint, Prices } from "../../src/core/catalog/records/records.ts";
import type { TokenUsage } from "../../src/wire/conversation/usage.ts";

/**
 * Returns the cost of token usage at a model endpoint's list price at a time, in nanodollars; 0 without a
 * price.
 */
export function priceUsage(endpoint: ModelEndpoint, usage: TokenUsage, at: number): number {
  const prices = findPrices(endpoint, usage.promptTokens, at);
  return prices === null ? 0 : priceAt(prices, usage);
}

/** Returns the cost of token usage at some prices, in nanodollars. */
export function priceAt(prices: Prices, usage: TokenUsage): number {
  return priceWhole({ prices, usage, advisors: [] });
}
