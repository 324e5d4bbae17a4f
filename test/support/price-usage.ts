import { findPrices, priceAt } from "../../src/core/catalog/price-usage.ts";
import type { ModelEndpoint } from "../../src/core/catalog/records.ts";
import type { TokenUsage } from "../../src/wire/conversation/usage.ts";

/** What a usage costs at an endpoint's list price of a time, in nanodollars; 0 where it has none. */
export function priceUsage(endpoint: ModelEndpoint, usage: TokenUsage, at: number): number {
  const prices = findPrices(endpoint, usage.promptTokens, at);
  return prices === null ? 0 : priceAt(prices, usage);
}
