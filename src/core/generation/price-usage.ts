import { parsePrice, roundToNanodollars } from "../../base/money.ts";
import type { TokenUsage } from "../../wire/conversation/usage.ts";
import type { ModelEndpoint, Prices } from "../catalog/records.ts";

/** Attodollars per unit. */
interface ParsedPrices {
  readonly prompt: bigint;
  readonly completion: bigint;
  readonly cacheRead: bigint;
  readonly cacheWrite: bigint;
  readonly request: bigint;
}

const parsed = new WeakMap<Prices, ParsedPrices>();

/**
 * What a generation costs at an endpoint's list price, in nanodollars: exact, rounded once, half up. Cached tokens
 * without a price of their own cost what the prompt costs. 0 where the endpoint has no price.
 */
export function priceUsage(endpoint: ModelEndpoint, usage: TokenUsage): number {
  const tier = endpoint.priceTiers?.findLast(({ minPromptTokens }) => usage.promptTokens >= minPromptTokens);
  const prices = tier ?? endpoint.prices;
  if (prices === null) return 0;
  const rates = readPrices(prices);
  const cached = BigInt(usage.cachedTokens);
  const written = BigInt(Math.min(usage.cacheWriteTokens, usage.promptTokens - usage.cachedTokens));
  const fresh = BigInt(usage.promptTokens) - cached - written;
  return roundToNanodollars(
    fresh * rates.prompt +
      cached * rates.cacheRead +
      written * rates.cacheWrite +
      BigInt(usage.completionTokens) * rates.completion +
      rates.request,
  );
}

function readPrices(prices: Prices): ParsedPrices {
  let rates = parsed.get(prices);
  if (rates === undefined) {
    const prompt = priceOf(prices.prompt);
    rates = {
      prompt,
      completion: priceOf(prices.completion),
      cacheRead: prices.cacheRead === undefined ? prompt : priceOf(prices.cacheRead),
      cacheWrite: prices.cacheWrite === undefined ? prompt : priceOf(prices.cacheWrite),
      request: prices.request === undefined ? 0n : priceOf(prices.request),
    };
    parsed.set(prices, rates);
  }
  return rates;
}

/** The catalog was validated when it was loaded; a price that is none would be a fault of ours. */
function priceOf(decimal: string): bigint {
  const price = parsePrice(decimal);
  if (price === null) throw new Error(`"${decimal}" is not a price`);
  return price;
}
