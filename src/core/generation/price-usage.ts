import { parsePrice, roundToNanodollars } from "../../base/money.ts";
import type { TokenUsage } from "../../wire/conversation/usage.ts";
import type { ModelEndpoint, Prices } from "../catalog/records.ts";

/** Attodollars per unit. */
interface ParsedPrices {
  readonly prompt: bigint;
  readonly completion: bigint;
  readonly cacheRead: bigint;
  readonly cacheWrite: bigint;
  readonly cacheWrite1h: bigint;
  readonly audioIn: bigint;
  readonly audioOut: bigint;
  readonly reasoning: bigint;
  readonly request: bigint;
}

const parsed = new WeakMap<Prices, ParsedPrices>();

/**
 * What a generation costs at an endpoint's list price, in nanodollars: exact, rounded once, half up. A kind of token
 * without a price of its own costs what the prompt or the completion costs. 0 where the endpoint has no price.
 */
export function priceUsage(endpoint: ModelEndpoint, usage: TokenUsage): number {
  const prices = findPrices(endpoint, usage.promptTokens);
  return prices === null ? 0 : priceAt(prices, usage);
}

/** The prices that hold for a prompt of that size; null where the endpoint has none. */
export function findPrices(endpoint: ModelEndpoint, promptTokens: number): Prices | null {
  const tier = endpoint.priceTiers?.findLast(({ minPromptTokens }) => promptTokens >= minPromptTokens);
  return tier ?? endpoint.prices;
}

/** The same at prices that are known, such as those that a record keeps. */
export function priceAt(prices: Prices, usage: TokenUsage): number {
  const rates = readPrices(prices);
  return roundToNanodollars(priceOfPrompt(usage, rates) + priceOfCompletion(usage, rates) + rates.request);
}

/** Each token is charged once, as the first kind it is of: read from cache, written to it, audio, plain. */
function priceOfPrompt(usage: TokenUsage, rates: ParsedPrices): bigint {
  const take = taker(usage.promptTokens);
  const cached = take(usage.cachedTokens);
  const written1h = take(usage.cacheWrite1hTokens);
  const written = take(usage.cacheWriteTokens - usage.cacheWrite1hTokens);
  const audio = take(usage.audioPromptTokens);
  return (
    cached * rates.cacheRead +
    written1h * rates.cacheWrite1h +
    written * rates.cacheWrite +
    audio * rates.audioIn +
    take(Number.POSITIVE_INFINITY) * rates.prompt
  );
}

function priceOfCompletion(usage: TokenUsage, rates: ParsedPrices): bigint {
  const take = taker(usage.completionTokens);
  const reasoning = take(usage.reasoningTokens);
  const audio = take(usage.audioCompletionTokens);
  return (
    reasoning * rates.reasoning + audio * rates.audioOut + take(Number.POSITIVE_INFINITY) * rates.completion
  );
}

/** Takes tokens out of `total` until none are left, so that kinds which overlap are never charged twice. */
function taker(total: number): (wanted: number) => bigint {
  let left = total;
  return (wanted) => {
    const taken = Math.min(Math.max(0, wanted), left);
    left -= taken;
    return BigInt(taken);
  };
}

function readPrices(prices: Prices): ParsedPrices {
  let rates = parsed.get(prices);
  if (rates === undefined) {
    const prompt = priceOf(prices.prompt);
    const completion = priceOf(prices.completion);
    const orElse = (price: string | undefined, other: bigint) =>
      price === undefined ? other : priceOf(price);
    const cacheWrite = orElse(prices.cacheWrite, prompt);
    rates = {
      prompt,
      completion,
      cacheRead: orElse(prices.cacheRead, prompt),
      cacheWrite,
      cacheWrite1h: orElse(prices.cacheWrite1h, cacheWrite),
      audioIn: orElse(prices.audioIn, prompt),
      audioOut: orElse(prices.audioOut, completion),
      reasoning: orElse(prices.reasoning, completion),
      request: orElse(prices.request, 0n),
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
