import { findPrices } from "../../catalog/prices/price-usage.ts";
import type { ModelEndpoint, Prices } from "../../catalog/records/records.ts";

/** The assumed length of an answer. It is the same for all endpoints that are compared. */
const COMPLETION_TOKENS = 500;

/** Prices as numbers, which suffice for comparisons. US dollars. */
interface Rates {
  readonly prompt: number;
  readonly cacheRead: number;
  readonly completion: number;
  readonly request: number;
}

const read = new WeakMap<Prices, Rates>();

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
  const { prompt, cacheRead, completion, request } = ratesOf(prices);
  const warm = Math.min(warmTokens, promptTokens);
  return (promptTokens - warm) * prompt + warm * cacheRead + COMPLETION_TOKENS * completion + request;
}

function ratesOf(prices: Prices): Rates {
  let rates = read.get(prices);
  if (rates === undefined) {
    rates = {
      prompt: Number(prices.prompt),
      cacheRead: Number(prices.cacheRead ?? prices.prompt),
      completion: Number(prices.completion),
      request: Number(prices.request ?? 0),
    };
    read.set(prices, rates);
  }
  return rates;
}
