/**
 * Prices are decimal strings from end to end: the source's digits are shifted and compared as text, so that no
 * float can bend them.
 */

const NUMBER = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;
const PLACES = 18;
const PER_MILLION = 6;

/**
 * Dollars per million tokens, as the source writes the number, in dollars per token. Digits beyond 18 places are
 * rounded half up: they are what is left of someone's float (0.049999999999999996). Null when it is no
 * non-negative number.
 */
export function perToken(perMillion: string): string | null {
  const match = NUMBER.exec(perMillion);
  if (match === null) return null;
  const [, whole = "", fraction = "", exponent = "0"] = match;
  return shiftDecimal(whole, fraction, Number(exponent) - PER_MILLION);
}

function shiftDecimal(whole: string, fraction: string, places: number): string {
  const digits = whole + fraction;
  const point = whole.length + places;
  const padded = point <= 0 ? "0".repeat(1 - point) + digits : digits.padEnd(point, "0");
  const at = Math.max(point, 1);
  return roundHalfUp(padded.slice(0, at), padded.slice(at));
}

function roundHalfUp(whole: string, fraction: string): string {
  if (fraction.length <= PLACES) return joinDecimal(whole, fraction);
  const up = (fraction[PLACES] as string) >= "5" ? 1n : 0n;
  const rounded = (BigInt(whole + fraction.slice(0, PLACES)) + up).toString().padStart(PLACES + 1, "0");
  return joinDecimal(rounded.slice(0, -PLACES), rounded.slice(-PLACES));
}

function joinDecimal(whole: string, fraction: string): string {
  const head = whole.replace(/^0+(?=\d)/, "");
  const tail = fraction.replace(/0+$/, "");
  return tail === "" ? head : `${head}.${tail}`;
}

/** The product of two plain decimals; digits beyond 18 places are rounded half up. */
export function multiplyDecimals(a: string, b: string): string {
  const [wholeA = "", fractionA = ""] = a.split(".");
  const [wholeB = "", fractionB = ""] = b.split(".");
  const places = fractionA.length + fractionB.length;
  const digits = (BigInt(wholeA + fractionA) * BigInt(wholeB + fractionB))
    .toString()
    .padStart(places + 1, "0");
  const at = digits.length - places;
  return roundHalfUp(digits.slice(0, at), digits.slice(at));
}

/** Negative, zero or positive, as `a` is less than, equal to or greater than `b`. Both are plain decimals. */
export function compareDecimals(a: string, b: string): number {
  const [wholeA = "", fractionA = ""] = a.split(".");
  const [wholeB = "", fractionB = ""] = b.split(".");
  const places = Math.max(fractionA.length, fractionB.length);
  const difference =
    BigInt(wholeA + fractionA.padEnd(places, "0")) - BigInt(wholeB + fractionB.padEnd(places, "0"));
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The greatest of some plain decimals; null of none. */
export function greatestDecimal(decimals: Iterable<string>): string | null {
  let greatest: string | null = null;
  for (const decimal of decimals) {
    if (greatest === null || compareDecimals(decimal, greatest) > 0) greatest = decimal;
  }
  return greatest;
}

/** True for "0" and nothing else, prices being written without trailing zeros. */
export function isZero(decimal: string): boolean {
  return decimal === "0";
}
