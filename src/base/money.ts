/**
 * Money is an integer of nanodollars (1e-9 USD). Prices are decimal strings in dollars per unit and may be
 * finer than that, so a cost is summed exactly in attodollars (1e-18 USD) and rounded once, half up, at the end
 * (docs/contract.md, "Keys, money, limits"). No float touches it.
 */

const ATTO_DIGITS = 18;
const ATTO_PER_NANO = 1_000_000_000n;
const NANO_PER_DOLLAR = 1_000_000_000;
const DECIMAL = /^(\d{1,12})(?:\.(\d{1,18}))?$/;

/**
 * Reads a non-negative decimal string of dollars, at most 18 places, as attodollars.
 * Null when it is anything else.
 */
export function parsePrice(decimal: string): bigint | null {
  const match = DECIMAL.exec(decimal);
  if (match === null) return null;
  return BigInt((match[1] as string) + (match[2] ?? "").padEnd(ATTO_DIGITS, "0"));
}

/** Rounds attodollars half up to nanodollars. A single generation stays far below 2^53 of them. */
export function roundToNanodollars(attodollars: bigint): number {
  return Number((attodollars + ATTO_PER_NANO / 2n) / ATTO_PER_NANO);
}

/** Nanodollars as the dollar number that answers carry. The only place where money becomes a float. */
export function toDollars(nanodollars: number): number {
  return nanodollars / NANO_PER_DOLLAR;
}
