/**
 * Money is an integer of nanodollars (1e-9 USD). Prices are decimal strings in dollars per unit and may be
 * finer than that, so a cost is summed exactly in attodollars (1e-18 USD) and rounded once, half up, at the end
 * (docs/api/money.md). No float touches it: a sum that is a whole number of picodollars (1e-12 USD) below 2^53 is a number, which is as exact.
 */

const ATTO_DIGITS = 18;
const NANO_DIGITS = 9;
const ATTO_PER_NANO = 1_000_000_000n;
const ATTO_PER_PICO = 1_000_000n;
const PICO_PER_NANO = 1_000;
const HALF_A_NANO = ATTO_PER_NANO / 2n;
const NANO_PER_DOLLAR = 1_000_000_000;
const MAX_NANODOLLARS = BigInt(Number.MAX_SAFE_INTEGER);
const DECIMAL = /^(\d{1,12})(?:\.(\d{1,18}))?$/;
const DOLLARS = /^(-?)(\d{1,7})(?:\.(\d{1,9}))?$/;

/**
 * Parses a non-negative decimal string of dollars with at most 18 places as attodollars.
 * Returns null for anything else.
 */
export function parsePrice(decimal: string): bigint | null {
  const match = DECIMAL.exec(decimal);
  if (match === null) return null;
  return BigInt((match[1] as string) + (match[2] ?? "").padEnd(ATTO_DIGITS, "0"));
}

/**
 * Rounds attodollars half up to nanodollars. The result is always an exact integer. It is limited to 9 million dollars, which only wrong
 * prices can exceed.
 */
export function roundToNanodollars(attodollars: bigint): number {
  const rounded = (attodollars + HALF_A_NANO) / ATTO_PER_NANO;
  return rounded > MAX_NANODOLLARS ? Number.MAX_SAFE_INTEGER : Number(rounded);
}

/** The largest sum of picodollars that is kept as a number: 9,000 dollars. A larger sum compares as larger, even if it is not exact. */
export const MAX_PICODOLLARS = 9e15;

/** Converts attodollars to picodollars; NaN if they are not a whole number of picodollars that a number holds. */
export function toPicodollars(attodollars: bigint): number {
  const picodollars = Number(attodollars / ATTO_PER_PICO);
  return attodollars % ATTO_PER_PICO === 0n && Number.isSafeInteger(picodollars) ? picodollars : Number.NaN;
}

/** Converts whole picodollars to attodollars. */
export function fromPicodollars(picodollars: number): bigint {
  return BigInt(picodollars) * ATTO_PER_PICO;
}

/** Converts nanodollars to picodollars. The result is exact if it is at most `MAX_PICODOLLARS`. */
export function nanoToPicodollars(nanodollars: number): number {
  return nanodollars * PICO_PER_NANO;
}

/** Rounds picodollars, a whole number, half up to nanodollars. */
export function roundPicodollars(picodollars: number): number {
  const below = picodollars % PICO_PER_NANO;
  const whole = (picodollars - below) / PICO_PER_NANO;
  return 2 * below >= PICO_PER_NANO ? whole + 1 : whole;
}

/** Converts nanodollars to attodollars. */
export function toAttodollars(nanodollars: number): bigint {
  return BigInt(nanodollars) * ATTO_PER_NANO;
}

/** Converts nanodollars to dollars for API responses. The only place where money becomes a float. */
export function toDollars(nanodollars: number): number {
  return nanodollars / NANO_PER_DOLLAR;
}

/**
 * Parses an amount of dollars, a decimal string or a JSON number, as nanodollars. May be negative. Returns null for text that is not an
 * amount, for more than 9 places, and from 10 million dollars on.
 */
export function parseDollars(amount: string | number): number | null {
  const match = DOLLARS.exec(typeof amount === "number" ? printNumber(amount) : amount);
  if (match === null) return null;
  const [, sign, whole, places = ""] = match;
  const nanodollars = Number(whole) * NANO_PER_DOLLAR + Number(places.padEnd(NANO_DIGITS, "0"));
  // Larger integers are not exact.
  if (!Number.isSafeInteger(nanodollars)) return null;
  return sign === "-" && nanodollars !== 0 ? -nanodollars : nanodollars;
}

/**
 * Reads an amount of dollars that another system computed as a float. Returns attodollars: the shortest digits of the number, at most 18
 * places. Returns null for negative amounts, and for amounts of a trillion dollars or more.
 */
export function readAmount(dollars: number): bigint | null {
  const match = /^(\d{1,12})(?:\.(\d+))?$/.exec(printNumber(dollars));
  return match === null ? null : parsePrice(`${match[1]}.${(match[2] ?? "0").slice(0, ATTO_DIGITS)}`);
}

/** The unit of factors of amounts. */
const MILLION = 1_000_000n;

/** Returns attodollars times `factor` millionths, rounded half up. */
export function scaleAmount(attodollars: bigint, factor: bigint): bigint {
  return (attodollars * factor + MILLION / 2n) / MILLION;
}

/** Formats a number with the fewest digits that identify it, and small numbers without an exponent. */
function printNumber(value: number): string {
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign, digit, rest = "", places] = match;
  return `${sign}0.${"0".repeat(Number(places) - 1)}${digit}${rest}`;
}

/** Formats nanodollars as an exact decimal string of dollars without trailing zeros. */
export function formatDollars(nanodollars: number): string {
  const digits = String(Math.abs(nanodollars)).padStart(NANO_DIGITS + 1, "0");
  const places = digits.slice(-NANO_DIGITS).replace(/0+$/, "");
  return `${nanodollars < 0 ? "-" : ""}${digits.slice(0, -NANO_DIGITS)}${places === "" ? "" : `.${places}`}`;
}

/** Formats nanodollars as an exact amount in a sentence, with at least two places: `$5.00`, `$0.00003`. */
export function printDollars(nanodollars: number): string {
  const [whole = "", places = ""] = formatDollars(Math.abs(nanodollars)).split(".");
  return `${nanodollars < 0 ? "-" : ""}$${whole}.${places.padEnd(2, "0")}`;
}

/** Formats attodollars as an exact decimal string of dollars without trailing zeros: the reverse of `parsePrice`. */
export function formatPrice(attodollars: bigint): string {
  return formatDecimal(attodollars, ATTO_DIGITS);
}

/** Formats attodollars as an exact decimal string of nanodollars without trailing zeros. */
export function formatNanodollars(attodollars: bigint): string {
  return formatDecimal(attodollars, NANO_DIGITS);
}

/** Formats a non-negative integer with the decimal point before its last `places` digits, without trailing zeros. */
function formatDecimal(value: bigint, places: number): string {
  const digits = String(value).padStart(places + 1, "0");
  const fraction = digits.slice(-places).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, -places) : `${digits.slice(0, -places)}.${fraction}`;
}
