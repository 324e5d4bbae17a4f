/** Arithmetic on prices as decimal strings. Digits are shifted and compared as text, so that no floating-point error occurs. */

const NUMBER = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;
const PLACES = 18;
const PER_MILLION = 6;

/**
 * Converts dollars per million tokens to dollars per token. Digits beyond 18 places are rounded half up: they stem from
 * floats of the source (0.049999999999999996). Returns null if the text is not a non-negative number.
 */
export function perToken(perMillion: string): string | null {
  const match = NUMBER.exec(perMillion);
  if (match === null) return null;
  const [, whole = "", fraction = "", exponent = "0"] = match;
  return shiftDecimal(whole, fraction, Number(exponent) - PER_MILLION);
}

/** Converts dollars per token to dollars per million tokens, without changing a digit. Returns null if the text is not a non-negative number. */
export function perMillion(perOne: string): string | null {
  const match = NUMBER.exec(perOne);
  if (match === null) return null;
  const [, whole = "", fraction = "0", exponent = "0"] = match;
  return `${whole}.${fraction}e${Number(exponent) + PER_MILLION}`;
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

/** Multiplies two plain decimals. Digits beyond 18 places are rounded half up. */
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

/** Compares two plain decimals. Returns a negative number if `a` is less than `b`, zero if they are equal, otherwise a positive number. */
export function compareDecimals(a: string, b: string): number {
  const [wholeA = "", fractionA = ""] = a.split(".");
  const [wholeB = "", fractionB = ""] = b.split(".");
  const places = Math.max(fractionA.length, fractionB.length);
  const difference =
    BigInt(wholeA + fractionA.padEnd(places, "0")) - BigInt(wholeB + fractionB.padEnd(places, "0"));
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Returns the largest of the decimals; null if there are none. */
export function greatestDecimal(decimals: Iterable<string>): string | null {
  let greatest: string | null = null;
  for (const decimal of decimals) {
    if (greatest === null || compareDecimals(decimal, greatest) > 0) greatest = decimal;
  }
  return greatest;
}

/** Whether a price is zero. Prices have no trailing zeros, so only "0" is. */
export function isZero(decimal: string): boolean {
  return decimal === "0";
}
