import { parsePrice, roundToNanodollars } from "../../base/money.ts";
import type { TokenUsage } from "../../wire/conversation/usage.ts";
import { findPriceRow } from "../catalog/price-row.ts";
import type { ModelEndpoint, Prices } from "../catalog/records.ts";

/** What prices tell apart of a generation: its kinds of tokens, and the request itself. */
export type PricedKind =
  | "prompt"
  | "cache_read"
  | "cache_write"
  | "cache_write_1h"
  | "audio_prompt"
  | "completion"
  | "reasoning"
  | "audio_completion"
  | "request";

/** One product of a cost: so many of a kind at a price. */
export interface PriceLine {
  readonly kind: PricedKind;
  /** Tokens; of the request 1. */
  readonly count: number;
  /** US dollars for one, a decimal string. */
  readonly price: string;
  /** Attodollars, exact. */
  readonly cost: bigint;
}

/** A kind's price as the catalog writes it, and in attodollars. */
interface Rate {
  readonly text: string;
  readonly value: bigint;
}

type Rates = Readonly<Record<PricedKind, Rate>>;

const parsed = new WeakMap<Prices, Rates>();

/**
 * What a generation costs at an endpoint's list price of a time (milliseconds since the epoch), in nanodollars: exact,
 * rounded once, half up. A kind of token without a price of its own costs what the prompt or the completion costs. 0
 * where the endpoint has no price.
 */
export function priceUsage(endpoint: ModelEndpoint, usage: TokenUsage, at: number): number {
  const prices = findPrices(endpoint, usage.promptTokens, at);
  return prices === null ? 0 : priceAt(prices, usage);
}

/** The prices that hold at a time for a prompt of that size; null where the endpoint has none. */
export function findPrices(endpoint: ModelEndpoint, promptTokens: number, at: number): Prices | null {
  const row = findPriceRow(endpoint, at);
  const tier = row.priceTiers?.findLast(({ minPromptTokens }) => promptTokens >= minPromptTokens);
  return tier ?? row.prices;
}

/** The same at prices that are known, such as those that a record keeps. */
export function priceAt(prices: Prices, usage: TokenUsage): number {
  let sum = 0n;
  for (const { cost } of listPriceLines(prices, usage)) sum += cost;
  return roundToNanodollars(sum);
}

/**
 * The arithmetic of a cost: its products, whose sum is the cost before it is rounded. Each token is charged once, as the
 * first kind it is of: read from the cache, written to it, audio, plain; of the answer reasoning, audio, plain.
 */
export function listPriceLines(prices: Prices, usage: TokenUsage): PriceLine[] {
  const rates = readRates(prices);
  const lines: PriceLine[] = [];
  const add = (kind: PricedKind, count: number): void => {
    const { text, value } = rates[kind];
    if (count > 0) lines.push({ kind, count, price: text, cost: BigInt(count) * value });
  };
  const ofPrompt = taker(usage.promptTokens);
  add("cache_read", ofPrompt(usage.cachedTokens));
  add("cache_write_1h", ofPrompt(usage.cacheWrite1hTokens));
  add("cache_write", ofPrompt(usage.cacheWriteTokens - usage.cacheWrite1hTokens));
  add("audio_prompt", ofPrompt(usage.audioPromptTokens));
  add("prompt", ofPrompt(Number.POSITIVE_INFINITY));
  const ofCompletion = taker(usage.completionTokens);
  add("reasoning", ofCompletion(usage.reasoningTokens));
  add("audio_completion", ofCompletion(usage.audioCompletionTokens));
  add("completion", ofCompletion(Number.POSITIVE_INFINITY));
  if (rates.request.value > 0n) add("request", 1);
  return lines;
}

/** Takes tokens out of `total` until none are left, so that kinds which overlap are never charged twice. */
function taker(total: number): (wanted: number) => number {
  let left = total;
  return (wanted) => {
    const taken = Math.min(Math.max(0, wanted), left);
    left -= taken;
    return taken;
  };
}

function readRates(prices: Prices): Rates {
  let rates = parsed.get(prices);
  if (rates === undefined) {
    const prompt = readRate(prices.prompt);
    const completion = readRate(prices.completion);
    const orElse = (price: string | undefined, other: Rate) =>
      price === undefined ? other : readRate(price);
    const cacheWrite = orElse(prices.cacheWrite, prompt);
    rates = {
      prompt,
      completion,
      cache_read: orElse(prices.cacheRead, prompt),
      cache_write: cacheWrite,
      cache_write_1h: orElse(prices.cacheWrite1h, cacheWrite),
      audio_prompt: orElse(prices.audioIn, prompt),
      audio_completion: orElse(prices.audioOut, completion),
      reasoning: orElse(prices.reasoning, completion),
      request: readRate(prices.request ?? "0"),
    };
    parsed.set(prices, rates);
  }
  return rates;
}

/** The catalog was validated when it was loaded; a price that is none would be a fault of ours. */
function readRate(text: string): Rate {
  const value = parsePrice(text);
  if (value === null) throw new Error(`"${text}" is not a price`);
  return { text, value };
}
