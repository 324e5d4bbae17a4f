import { dateOf, midnightOf } from "../../../base/time/time.ts";
import { PRICE_NAMES, type PriceName } from "../records/model-schema.ts";
import type { Prices } from "../records/records.ts";
import { compareDecimals, isZero, multiplyDecimals } from "./decimal-price.ts";
import { findPriceRow, type PriceRow, type PriceTerms } from "./price-row.ts";

/** A price that changes beyond the factor. */
export interface PriceJump {
  readonly kind: PriceName;
  /** US dollars, a decimal string; null if the price is unknown. */
  readonly before: string | null;
  readonly after: string | null;
  /** The price tier that changes; absent for the base price. */
  readonly minPromptTokens?: number;
  /** The day, `YYYY-MM-DD`, of an announced change; absent if it applies immediately. */
  readonly from?: string;
}

/** The price that applies if a price is absent. */
const STANDS_IN: Readonly<Record<PriceName, PriceName | "0">> = {
  prompt: "0",
  completion: "0",
  cacheRead: "prompt",
  cacheWrite: "prompt",
  cacheWrite1h: "cacheWrite",
  audioIn: "prompt",
  audioOut: "completion",
  reasoning: "completion",
  imageOut: "completion",
  request: "0",
  requestMedium: "request",
  requestHigh: "request",
  image: "0",
  search: "0",
  searchedRequest: "0",
  character: "0",
  audioSecond: "0",
  generatedImage: "0",
};

/** The parameters of a comparison of prices. */
interface JumpTerms {
  /** A plain decimal. */
  readonly factor: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Finds the effective prices that change by more than the factor, up or down, or from or to zero: now and on each announced
 * day, in each price tier. Returns none if the price was unknown before.
 */
export function findPriceJumps(
  before: PriceTerms,
  after: PriceTerms,
  { factor, now }: JumpTerms,
): PriceJump[] {
  const jumps: PriceJump[] = [];
  for (const from of [null, ...listDays([before, after], dateOf(now))]) {
    const at = from === null ? now : midnightOf(from);
    for (const jump of compareRows(findPriceRow(before, at), findPriceRow(after, at), factor))
      jumps.push(from === null ? jump : { ...jump, from });
  }
  return jumps;
}

function listDays(terms: readonly PriceTerms[], today: string): string[] {
  const days = terms.flatMap(({ priceChanges = [] }) => priceChanges.map(({ from }) => from));
  return [...new Set(days)].filter((day) => day > today).sort();
}

function* compareRows(before: PriceRow, after: PriceRow, factor: string): Generator<PriceJump> {
  if (before.prices === null) return;
  if (after.prices === null) {
    yield { kind: "prompt", before: before.prices.prompt, after: null };
    return;
  }
  const sizes = [before, after].flatMap(({ priceTiers = [] }) =>
    priceTiers.map((tier) => tier.minPromptTokens),
  );
  for (const size of [0, ...[...new Set(sizes)].sort((a, b) => a - b)]) {
    const [old, fresh] = [pricesFor(before, size), pricesFor(after, size)] as const;
    for (const jump of comparePrices(old, fresh, factor))
      yield size === 0 ? jump : { ...jump, minPromptTokens: size };
  }
}

function pricesFor({ prices, priceTiers }: PriceRow, promptTokens: number): Prices {
  return priceTiers?.findLast((tier) => tier.minPromptTokens <= promptTokens) ?? (prices as Prices);
}

function* comparePrices(before: Prices, after: Prices, factor: string): Generator<PriceJump> {
  for (const kind of PRICE_NAMES) {
    if (before[kind] === undefined && after[kind] === undefined) continue;
    const [old, fresh] = [costOf(before, kind), costOf(after, kind)];
    if (isJump(old, fresh, factor)) yield { kind, before: old, after: fresh };
  }
}

function costOf(prices: Prices, kind: PriceName): string {
  const own = prices[kind];
  const other = STANDS_IN[kind];
  return own ?? (other === "0" ? "0" : costOf(prices, other));
}

function isJump(before: string, after: string, factor: string): boolean {
  if (isZero(before) !== isZero(after)) return true;
  return (
    compareDecimals(after, multiplyDecimals(before, factor)) > 0 ||
    compareDecimals(before, multiplyDecimals(after, factor)) > 0
  );
}
