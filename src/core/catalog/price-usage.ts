import { parsePrice, roundToNanodollars } from "../../base/money.ts";
import { type AdvisorUsage, NO_TOKENS, type TokenUsage } from "../../wire/conversation/usage.ts";
import { findPriceRow } from "./price-row.ts";
import type { ModelEndpoint, Prices } from "./records.ts";

/** What prices tell apart of a generation: its kinds of tokens, and what is charged beside them. */
export type PricedKind =
  | "prompt"
  | "cache_read"
  | "cache_write"
  | "cache_write_1h"
  | "audio_prompt"
  | "completion"
  | "reasoning"
  | "audio_completion"
  | "image_completion"
  | "request"
  | "image"
  | "search"
  | "searched_request";

const COUNTED: ReadonlySet<PricedKind> = new Set(["request", "image", "search", "searched_request"]);

/** Whether a kind is one of tokens. */
export function isOfTokens(kind: PricedKind): boolean {
  return !COUNTED.has(kind);
}

/** One product of a cost: so many of a kind at a price. */
export interface PriceLine {
  readonly kind: PricedKind;
  /** Tokens, images, searches; of the request 1. */
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

/** The prices of a request by how much its search reads, and of everything else. */
interface Rates extends Readonly<Record<PricedKind | "request_medium" | "request_high", Rate>> {
  /** The highest price of a token of text in a prompt, of a file in it, and of an answer. Attodollars. */
  readonly dearestPrompt: bigint;
  readonly dearestFile: bigint;
  readonly dearestCompletion: bigint;
}

const parsed = new WeakMap<Prices, Rates>();

/** The prices that hold at a time for a prompt of that size; null where the endpoint has none. */
export function findPrices(endpoint: ModelEndpoint, promptTokens: number, at: number): Prices | null {
  const row = findPriceRow(endpoint, at);
  const tier = row.priceTiers?.findLast(({ minPromptTokens }) => promptTokens >= minPromptTokens);
  return tier ?? row.prices;
}

/**
 * What a usage costs at prices such as those that a record keeps, in nanodollars: exact, rounded once, half up. A kind of
 * token without a price of its own costs what the prompt or the completion costs.
 */
export function priceAt(prices: Prices, usage: TokenUsage): number {
  return roundToNanodollars(sumCharges(prices, usage));
}

function sumCharges(prices: Prices, usage: TokenUsage): bigint {
  let sum = 0n;
  forEachCharge(readRates(prices), usage, (_, count, rate) => {
    sum += BigInt(count) * rate.value;
  });
  return sum;
}

/** What a generation has used, and at which prices. */
export interface PricedUsage {
  readonly prices: Prices | null;
  readonly usage: TokenUsage;
  readonly advisors: readonly PricedAdvisor[];
}

/** What a model has used that was consulted, and at which prices. */
export interface PricedAdvisor extends AdvisorUsage {
  readonly prices: Prices | null;
}

/** What a generation costs with all models that it consulted, in nanodollars: exact, rounded once, half up. */
export function priceWhole({ prices, usage, advisors }: PricedUsage): number {
  let sum = prices === null ? 0n : sumCharges(prices, usage);
  for (const advisor of advisors) sum += sumAdvisor(advisor);
  return roundToNanodollars(sum);
}

/** What a model costs that was consulted, in nanodollars. */
export function priceAdvisor(advisor: PricedAdvisor): number {
  return roundToNanodollars(sumAdvisor(advisor));
}

/** Its tokens alone: the request was charged already. */
function sumAdvisor({ prices, ...usage }: PricedAdvisor): bigint {
  if (prices === null) return 0n;
  let sum = 0n;
  forEachToken(readRates(prices), { ...NO_TOKENS, ...usage }, (_, count, rate) => {
    sum += BigInt(count) * rate.value;
  });
  return sum;
}

/** What a request may use beside its answer. */
export interface BoundedPrompt extends Pick<TokenUsage, "images" | "searches" | "searchContext"> {
  /** Tokens of text. */
  readonly promptTokens: number;
  /** Tokens of files, which may be audio. */
  readonly fileTokens: number;
}

/** What a request costs at most: `fixed`, and `perToken` for each token of its answer. Attodollars. */
export interface CostAtMost {
  readonly fixed: bigint;
  readonly perToken: bigint;
}

/**
 * What a request costs at most at an endpoint, whichever kinds its tokens turn out to be of: the prompt plain or written to
 * a cache, the answer plain, reasoning, audio or images.
 */
export function priceAtMost(endpoint: ModelEndpoint, prompt: BoundedPrompt, at: number): CostAtMost {
  const prices = findPrices(endpoint, prompt.promptTokens + prompt.fileTokens, at);
  if (prices === null) return NO_COST;
  const rates = readRates(prices);
  let fixed = BigInt(prompt.promptTokens) * rates.dearestPrompt;
  if (prompt.fileTokens > 0) fixed += BigInt(prompt.fileTokens) * rates.dearestFile;
  forEachOther(rates, prompt, (_, count, rate) => {
    fixed += BigInt(count) * rate.value;
  });
  return { fixed, perToken: rates.dearestCompletion };
}

const NO_COST: CostAtMost = { fixed: 0n, perToken: 0n };

/**
 * The arithmetic of a cost: its products, whose sum is the cost before it is rounded. Each token is charged once, as the
 * first kind it is of: read from the cache, written to it, audio, plain; of the answer reasoning, audio, plain.
 */
export function listPriceLines(prices: Prices, usage: TokenUsage): PriceLine[] {
  return collectLines((charge) => forEachCharge(readRates(prices), usage, charge));
}

/** The same of a model that was consulted. */
export function listAdvisorLines({ prices, ...usage }: PricedAdvisor): PriceLine[] {
  if (prices === null) return [];
  return collectLines((charge) => forEachToken(readRates(prices), { ...NO_TOKENS, ...usage }, charge));
}

function collectLines(list: (charge: Charge) => void): PriceLine[] {
  const lines: PriceLine[] = [];
  list((kind, count, { text, value }) => {
    lines.push({ kind, count, price: text, cost: BigInt(count) * value });
  });
  return lines;
}

type Charge = (kind: PricedKind, count: number, rate: Rate) => void;

function forEachCharge(rates: Rates, usage: TokenUsage, charge: Charge): void {
  forEachToken(rates, usage, charge);
  forEachOther(rates, usage, charge);
}

function forEachToken(rates: Rates, usage: TokenUsage, charge: Charge): void {
  const add = (kind: PricedKind, count: number): void => {
    if (count > 0) charge(kind, count, rates[kind]);
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
  add("image_completion", ofCompletion(usage.imageCompletionTokens));
  add("completion", ofCompletion(Number.POSITIVE_INFINITY));
}

/** What is charged beside tokens, where it has a price. */
function forEachOther(
  rates: Rates,
  usage: Pick<TokenUsage, "images" | "searches" | "searchContext">,
  charge: Charge,
): void {
  const add = (kind: PricedKind, count: number, rate: Rate = rates[kind]): void => {
    if (rate.value > 0n) charge(kind, count, rate);
  };
  add("request", 1, rateOfRequest(rates, usage));
  if (usage.images > 0) add("image", usage.images);
  if (usage.searches > 0) {
    add("search", usage.searches);
    add("searched_request", 1);
  }
}

function rateOfRequest(rates: Rates, { searchContext }: Pick<TokenUsage, "searchContext">): Rate {
  if (searchContext === "high") return rates.request_high;
  return searchContext === "medium" ? rates.request_medium : rates.request;
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
    const request = orElse(prices.request, FREE);
    const requestMedium = orElse(prices.requestMedium, request);
    const cacheWrite1h = orElse(prices.cacheWrite1h, cacheWrite);
    const reasoning = orElse(prices.reasoning, completion);
    const imageCompletion = orElse(prices.imageOut, completion);
    const audioPrompt = orElse(prices.audioIn, prompt);
    const audioCompletion = orElse(prices.audioOut, completion);
    rates = {
      prompt,
      completion,
      cache_read: orElse(prices.cacheRead, prompt),
      cache_write: cacheWrite,
      cache_write_1h: cacheWrite1h,
      audio_prompt: audioPrompt,
      audio_completion: audioCompletion,
      reasoning,
      image_completion: imageCompletion,
      request,
      request_medium: requestMedium,
      request_high: orElse(prices.requestHigh, requestMedium),
      image: orElse(prices.image, FREE),
      search: orElse(prices.search, FREE),
      searched_request: orElse(prices.searchedRequest, FREE),
      dearestPrompt: dearestOf(prompt, cacheWrite, cacheWrite1h),
      dearestFile: dearestOf(prompt, cacheWrite, cacheWrite1h, audioPrompt),
      dearestCompletion: dearestOf(completion, reasoning, audioCompletion, imageCompletion),
    };
    parsed.set(prices, rates);
  }
  return rates;
}

function dearestOf(...rates: readonly Rate[]): bigint {
  return rates.reduce((dearest, { value }) => (value > dearest ? value : dearest), 0n);
}

const FREE: Rate = { text: "0", value: 0n };

/** Prices of what only the request tells of, or of what no bound on tokens covers. */
const BESIDE_TOKENS = [
  "image",
  "search",
  "searchedRequest",
  "requestMedium",
  "requestHigh",
  "imageOut",
] as const satisfies readonly (keyof Prices)[];

const charging = new WeakMap<ModelEndpoint, boolean>();

/** Whether an endpoint ever charges for more than tokens and the request; of most requests nothing more need be known. */
export function chargesBesideTokens(endpoint: ModelEndpoint): boolean {
  let charges = charging.get(endpoint);
  if (charges === undefined) {
    const rows = [endpoint, ...(endpoint.priceChanges ?? [])];
    const all = rows.flatMap(({ prices, priceTiers = [] }) => [prices, ...priceTiers]);
    charges = all.some((prices) => BESIDE_TOKENS.some((name) => prices?.[name] !== undefined));
    charging.set(endpoint, charges);
  }
  return charges;
}

/** The catalog was validated when it was loaded; a price that is none would be a fault of ours. */
function readRate(text: string): Rate {
  const value = parsePrice(text);
  if (value === null) throw new Error(`"${text}" is not a price`);
  return { text, value };
}
