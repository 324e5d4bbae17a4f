import { findPrices } from "../../catalog/prices/price-usage.ts";
import type { ModelEndpoint } from "../../catalog/records/records.ts";

/** The assumed length of an answer. It is the same for all endpoints that are compared. */
const COMPLETION_TOKENS = 500;

/**
 * Estimates the cost of a prompt of `promptTokens` and its answer at an endpoint, in US dollars, for comparisons and never for
 * charges. `warmTokens` of the prompt are in the provider's cache. `at` is in milliseconds since the epoch.
 */
export function estimateCost(
  endpoint: ModelEndpoint,
  promptTokens: number,
  warmTokens: number,
  at: number,
): number {
  const prices = findPrices(endpoint, promptTokens, at);
  if (prices === null) return 0;
  const warm = Math.min(warmTokens, promptTokens);
  // Numbers suffice for comparisons.
  return (
    (promptTokens - warm) * Number(prices.prompt) +
    warm * Number(prices.cacheRead ?? prices.prompt) +
    COMPLETION_TOKENS * Number(prices.completion) +
    Number(prices.request ?? 0)
  );
}
