import {
  fromPicodollars,
  MAX_PICODOLLARS,
  parsePrice,
  roundPicodollars,
  roundToNanodollars,
  toPicodollars,
} from "../../../base/numbers/money.ts";
import {
  type AdvisorUsage,
  NO_TOKENS,
  type TokenUsage,
  type UnitCounts,
} from "../../../wire/conversation/usage.ts";
import { listImagePrices, type ModelEndpoint, type Prices, type PriceTier } from "../records/records.ts";
import { greatestDecimal } from "./decimal-price.ts";
import { ExactCost, type MaxCost, QuickCost } from "./max-cost.ts";
import { findPriceRow } from "./price-row.ts";

/** The kinds of tokens and other charges that prices distinguish. */
type PricedKind =
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
  | "searched_request"
  | "reported"
  | "surcharge"
  | "character"
  | "audio_second"
  | "generated_image";

const COUNTED: ReadonlySet<PricedKind> = new Set([
  "request",
  "image",
  "search",
  "searched_request",
  "reported",
  "surcharge",
  "character",
  "audio_second",
  "generated_image",
]);

const PROMPT_KINDS: ReadonlySet<PricedKind> = new Set([
  "prompt",
  "cache_read",
  "cache_write",
  "cache_write_1h",
  "audio_prompt",
]);

/** Whether a kind is charged per token. */
export function isOfTokens(kind: PricedKind): boolean {
  return !COUNTED.has(kind);
}

/** One line of a cost: a count times a price. */
export interface PriceLine {
  readonly kind: PricedKind;
  /** Number of tokens, or of the units that the kind names; 1 for the request. */
  readonly count: number;
  /** US dollars per unit, a decimal string. */
  readonly price: string;
  /** Attodollars, exact. */
  readonly cost: bigint;
}

/** A price as text of the catalog, and in attodollars. */
interface Rate {
  readonly text: string;
  readonly value: bigint;
  /** In picodollars; NaN if the exact value does not fit a number. */
  readonly picodollars: number;
}

/** The rates of all kinds, including those of a search by its context size. */
interface Rates extends Readonly<Record<RatedKind | "request_medium" | "request_high", Rate>> {
  /** The prices from which the rate of a generated image is chosen. */
  readonly prices: Prices;
  /** The highest price of a text token of a prompt, a file token of a prompt, and a completion token. */
  readonly maxPrompt: Rate;
  readonly maxFile: Rate;
  readonly maxCompletion: Rate;
}

/** Reads prices for computations. */
interface RateReader {
  of(prices: Prices): Rates;
}

/** Reads the same prices once. */
export class RateMemory implements RateReader {
  private readonly known = new WeakMap<Prices, Rates>();

  of(prices: Prices): Rates {
    let rates = this.known.get(prices);
    if (rates === undefined) {
      rates = parseRates(prices);
      this.known.set(prices, rates);
    }
    return rates;
  }
}

const READ_ANEW: RateReader = { of: parseRates };

/** Returns the prices at a time, milliseconds since the epoch, for a prompt of `promptTokens`; null if the endpoint has none. */
export function findPrices(endpoint: ModelEndpoint, promptTokens: number, at: number): Prices | null {
  const { prices, priceTiers } = findPriceRow(endpoint, at);
  return priceTiers === undefined ? prices : (findTier(priceTiers, promptTokens) ?? prices);
}

function findTier(tiers: readonly PriceTier[], promptTokens: number): PriceTier | undefined {
  return tiers.findLast(({ minPromptTokens }) => promptTokens >= minPromptTokens);
}

/** Receives the charges of a usage, kind by kind. */
interface ChargeTaker {
  charge(kind: PricedKind, count: number, rate: Rate): void;
}

/**
 * An exact sum of charges. Nearly all prices are whole picodollars and nearly all sums small enough for a number, which costs a fraction of
 * big integers; only the charges that are not are summed in attodollars.
 */
class CostSum implements ChargeTaker {
  private picodollars = 0;
  private rest = 0n;

  charge(_kind: PricedKind, count: number, rate: Rate): void {
    const sum = this.picodollars + count * rate.picodollars;
    if (Number.isSafeInteger(count) && sum <= Number.MAX_SAFE_INTEGER) this.picodollars = sum;
    // Throws for a count that is not a whole number.
    else this.rest += BigInt(count) * rate.value;
  }

  /** Returns the sum plus a price for each token of answers, in nanodollars. */
  withTokens(perToken: Rate): MaxCost {
    return this.rest === 0n && this.picodollars <= MAX_PICODOLLARS && perToken.picodollars <= MAX_PICODOLLARS
      ? new QuickCost(this.picodollars, perToken.picodollars)
      : new ExactCost(this.attodollars(), perToken.value);
  }

  attodollars(): bigint {
    return this.picodollars === 0 ? this.rest : this.rest + fromPicodollars(this.picodollars);
  }

  /** Returns the sum in nanodollars, rounded once, half up. */
  round(): number {
    return this.rest === 0n ? roundPicodollars(this.picodollars) : roundToNanodollars(this.attodollars());
  }
}

/** The token usage of a generation, and its prices. */
interface PricedUsage {
  readonly prices: Prices | null;
  readonly usage: TokenUsage;
  readonly advisors: readonly PricedAdvisor[];
}

/** The token usage of an advisor model, and its prices. */
export interface PricedAdvisor extends AdvisorUsage {
  readonly prices: Prices | null;
}

/**
 * Returns the cost of a generation including its advisors, in nanodollars, rounded once, half up. A kind of token without a
 * price costs as much as a prompt or completion token.
 */
export function priceWhole({ prices, usage, advisors }: PricedUsage, rates: RateReader = READ_ANEW): number {
  const sum = new CostSum();
  if (prices !== null) forEachCharge(rates.of(prices), usage, sum);
  for (const advisor of advisors) chargeAdvisor(advisor, sum, rates);
  return sum.round();
}

/**
 * Returns how much a vendor's prompt cache saved for a generation: the cost of its prompt without the cache, less its actual cost.
 * Nanodollars; negative if writing cost more than reading saved. Audio in the prompt is counted as with the cache.
 */
export function priceCacheSaving(prices: Prices | null, usage: CachedTokens): number {
  // Records of earlier versions may lack some.
  const { cachedTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage;
  if (prices === null || prices.reported !== undefined || cachedTokens + cacheWriteTokens === 0) return 0;
  const { prompt, cache_read, cache_write, cache_write_1h } = parseRates(prices);
  const saved =
    BigInt(cachedTokens) * (prompt.value - cache_read.value) +
    BigInt(cacheWriteTokens - cacheWrite1hTokens) * (prompt.value - cache_write.value) +
    BigInt(cacheWrite1hTokens) * (prompt.value - cache_write_1h.value);
  return saved < 0n ? -roundToNanodollars(-saved) : roundToNanodollars(saved);
}

/** The tokens of a prompt that a cache has read or written. */
type CachedTokens = Partial<Pick<TokenUsage, "cachedTokens" | "cacheWriteTokens" | "cacheWrite1hTokens">>;

/** The cost of a generation's tokens, including its advisors. Nanodollars. */
interface TokenCosts {
  readonly prompt: number;
  readonly completion: number;
}

/**
 * Returns the parts of a cost that are charged by tokens, each rounded by itself, half up. Fixed prices, and those of searches, images and
 * other units, are not included. If the provider reported a cost, the parts are computed from its token prices.
 */
export function priceTokens(
  { prices, usage, advisors }: PricedUsage,
  rates: RateReader = READ_ANEW,
): TokenCosts {
  const parts = new SplitCost();
  if (prices !== null) forEachToken(rates.of(prices), usage, parts);
  for (const advisor of advisors) chargeAdvisor(advisor, parts, rates);
  return { prompt: parts.prompt.round(), completion: parts.completion.round() };
}

/** The charges of prompts and of completions, summed separately. */
class SplitCost implements ChargeTaker {
  readonly prompt = new CostSum();
  readonly completion = new CostSum();

  charge(kind: PricedKind, count: number, rate: Rate): void {
    const isPrompt = PROMPT_KINDS.has(kind);
    (isPrompt ? this.prompt : this.completion).charge(kind, count, rate);
  }
}

/** Returns the cost of an advisor in nanodollars. */
export function priceAdvisor(advisor: PricedAdvisor): number {
  const sum = new CostSum();
  chargeAdvisor(advisor, sum, READ_ANEW);
  return sum.round();
}

/** Charges an advisor's tokens. The price per request is charged only once for a generation. */
function chargeAdvisor({ prices, ...usage }: PricedAdvisor, charges: ChargeTaker, rates: RateReader): void {
  if (prices !== null) forEachToken(rates.of(prices), { ...NO_TOKENS, ...usage }, charges);
}

/** The counts that are not tokens. */
type OtherUsage = Pick<TokenUsage, "images" | "searches" | "searchContext" | "units">;

/** Upper bounds of what a request uses, except its answer. */
export interface BoundedPrompt extends OtherUsage {
  /** Tokens of text. */
  readonly promptTokens: number;
  /** Tokens of files, including audio. */
  readonly fileTokens: number;
}

/**
 * Returns the maximum cost of a request at an endpoint, for any kind of its tokens: the prompt plain or written to a cache,
 * the answer plain, reasoning, audio or images. `at` is in milliseconds since the epoch.
 */
export function priceAtMost(
  endpoint: ModelEndpoint,
  prompt: BoundedPrompt,
  at: number,
  reader: RateReader = READ_ANEW,
): MaxCost {
  const prices = findPrices(endpoint, prompt.promptTokens + prompt.fileTokens, at);
  if (prices === null) return NO_COST;
  const rates = reader.of(prices);
  const fixed = new CostSum();
  fixed.charge("prompt", prompt.promptTokens, rates.maxPrompt);
  if (prompt.fileTokens > 0) fixed.charge("prompt", prompt.fileTokens, rates.maxFile);
  forEachOther(rates, prompt, fixed);
  return fixed.withTokens(rates.maxCompletion);
}

const NO_COST: MaxCost = new QuickCost(0, 0);

/**
 * Lists the lines of a cost, whose sum is the cost before rounding. Each token is charged once, as the first that applies:
 * of the prompt cache read, cache write, audio, plain; of the answer reasoning, audio, image, plain.
 */
export function listPriceLines(prices: Prices, usage: TokenUsage): PriceLine[] {
  const list = new PriceList();
  forEachCharge(parseRates(prices), usage, list);
  return list.lines;
}

/** Lists the lines of an advisor's cost. */
export function listAdvisorLines(advisor: PricedAdvisor): PriceLine[] {
  const list = new PriceList();
  chargeAdvisor(advisor, list, READ_ANEW);
  return list.lines;
}

class PriceList implements ChargeTaker {
  readonly lines: PriceLine[] = [];

  charge(kind: PricedKind, count: number, { text, value }: Rate): void {
    this.lines.push({ kind, count, price: text, cost: BigInt(count) * value });
  }
}

/** The kinds with a single rate. */
type RatedKind = Exclude<PricedKind, "generated_image">;

function forEachCharge(rates: Rates, usage: TokenUsage, charges: ChargeTaker): void {
  if (rates.prices.reported !== undefined) charges.charge("reported", 1, rates.reported);
  else {
    forEachToken(rates, usage, charges);
    forEachOther(rates, usage, charges);
  }
}

/**
 * Charges the tokens of a prompt or an answer kind by kind. No token is charged twice, because each kind takes its tokens from the
 * remaining ones.
 */
class TokenCharges {
  private left = 0;

  constructor(
    private readonly rates: Rates,
    private readonly charges: ChargeTaker,
  ) {}

  /** Begins with all tokens of a prompt or an answer. */
  begin(count: number): void {
    this.left = count;
  }

  /** Charges as many of the tokens that are left as a kind has. */
  take(kind: RatedKind, count: number): void {
    const taken = Math.min(Math.max(0, count), this.left);
    this.left -= taken;
    if (taken > 0) this.charges.charge(kind, taken, this.rates[kind]);
  }
}

function forEachToken(rates: Rates, usage: TokenUsage, charges: ChargeTaker): void {
  const tokens = new TokenCharges(rates, charges);
  tokens.begin(usage.promptTokens);
  tokens.take("cache_read", usage.cachedTokens);
  tokens.take("cache_write_1h", usage.cacheWrite1hTokens);
  tokens.take("cache_write", usage.cacheWriteTokens - usage.cacheWrite1hTokens);
  tokens.take("audio_prompt", usage.audioPromptTokens);
  tokens.take("prompt", Number.POSITIVE_INFINITY);
  tokens.begin(usage.completionTokens);
  tokens.take("reasoning", usage.reasoningTokens);
  tokens.take("audio_completion", usage.audioCompletionTokens);
  tokens.take("image_completion", usage.imageCompletionTokens);
  tokens.take("completion", Number.POSITIVE_INFINITY);
}

/** Visits the charges that are not per token and have a price. */
function forEachOther(rates: Rates, usage: OtherUsage, charges: ChargeTaker): void {
  chargePriced(charges, "request", 1, rateOfRequest(rates, usage));
  chargePriced(charges, "surcharge", 1, rates.surcharge);
  if (usage.images > 0) chargePriced(charges, "image", usage.images, rates.image);
  if (usage.searches > 0) {
    chargePriced(charges, "search", usage.searches, rates.search);
    chargePriced(charges, "searched_request", 1, rates.searched_request);
  }
  if (usage.units !== undefined) forEachUnit(rates, usage.units, charges);
}

/** Visits the charges per character, second or generated image that have a price. */
function forEachUnit(rates: Rates, units: UnitCounts, charges: ChargeTaker): void {
  const { characters = 0, audioSeconds = 0, generatedImages = 0 } = units;
  if (characters > 0) chargePriced(charges, "character", characters, rates.character);
  if (audioSeconds > 0) chargePriced(charges, "audio_second", audioSeconds, rates.audio_second);
  if (generatedImages > 0)
    chargePriced(charges, "generated_image", generatedImages, rateOfImage(rates.prices, units));
}

function chargePriced(charges: ChargeTaker, kind: PricedKind, count: number, rate: Rate): void {
  if (rate.value > 0n) charges.charge(kind, count, rate);
}

/**
 * Returns the rate of a generated image: that of the first matching variant, where an unknown quality or size matches any. If no variant
 * matches, returns the rate of the most expensive one.
 */
function rateOfImage(prices: Prices, { imageQuality, imageSize }: UnitCounts): Rate {
  const fits = (wanted: string | undefined, known: string | undefined) =>
    wanted === undefined || known === undefined || wanted === known;
  const variant = prices.imageVariants?.find(
    ({ quality, size }) => fits(quality, imageQuality) && fits(size, imageSize),
  );
  const price = variant?.price ?? prices.generatedImage ?? greatestDecimal(listImagePrices(prices));
  return price === null ? FREE : readRate(price);
}

function rateOfRequest(rates: Rates, { searchContext }: Pick<TokenUsage, "searchContext">): Rate {
  if (searchContext === "high") return rates.request_high;
  return searchContext === "medium" ? rates.request_medium : rates.request;
}

function parseRates(prices: Prices): Rates {
  const prompt = readRate(prices.prompt);
  const completion = readRate(prices.completion);
  const orElse = (price: string | undefined, other: Rate) => (price === undefined ? other : readRate(price));
  const cacheWrite = orElse(prices.cacheWrite, prompt);
  const request = orElse(prices.request, FREE);
  const requestMedium = orElse(prices.requestMedium, request);
  const cacheWrite1h = orElse(prices.cacheWrite1h, cacheWrite);
  const reasoning = orElse(prices.reasoning, completion);
  const imageCompletion = orElse(prices.imageOut, completion);
  const audioPrompt = orElse(prices.audioIn, prompt);
  const audioCompletion = orElse(prices.audioOut, completion);
  return {
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
    reported: orElse(prices.reported, FREE),
    surcharge: orElse(prices.surcharge, FREE),
    character: orElse(prices.character, FREE),
    audio_second: orElse(prices.audioSecond, FREE),
    prices,
    maxPrompt: highestOf(prompt, cacheWrite, cacheWrite1h),
    maxFile: highestOf(prompt, cacheWrite, cacheWrite1h, audioPrompt),
    maxCompletion: highestOf(completion, reasoning, audioCompletion, imageCompletion),
  };
}

function highestOf(...rates: readonly Rate[]): Rate {
  return rates.reduce((highest, rate) => (rate.value > highest.value ? rate : highest), FREE);
}

const FREE: Rate = { text: "0", value: 0n, picodollars: 0 };

/** Prices that depend on the request's contents, or that a bound on tokens does not cover. */
const BESIDE_TOKENS = [
  "image",
  "search",
  "searchedRequest",
  "requestMedium",
  "requestHigh",
  "imageOut",
] as const satisfies readonly (keyof Prices)[];

/** Whether an endpoint may charge for more than tokens and a fixed price per request. If not, requests need not be examined for it. */
export function chargesBesideTokens(endpoint: ModelEndpoint): boolean {
  const rows = [endpoint, ...(endpoint.priceChanges ?? [])];
  const all = rows.flatMap(({ prices, priceTiers = [] }) => [prices, ...priceTiers]);
  return all.some((prices) => BESIDE_TOKENS.some((name) => prices?.[name] !== undefined));
}

/** Parses a price of the catalog. Throws if it is invalid, which is a bug: the catalog is validated when it is loaded. */
function readRate(text: string): Rate {
  const value = parsePrice(text);
  if (value === null) throw new Error(`"${text}" is not a price`);
  return { text, value, picodollars: toPicodollars(value) };
}
