import { InvalidArgumentError } from "commander";
import { BOUNDS } from "../base/bounds.ts";
import { parseDollars } from "../base/money.ts";

/** The word for no limit, no bound, all. */
const NONE = "none";

/**
 * An amount of dollars as nanodollars; null for `none`, undefined for an option that was left out.
 * @throws Error that names the option.
 */
export function readDollars(option: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  const amount = parseDollars(text);
  if (amount === null || amount < 0)
    throw new Error(`${option} must be US dollars, such as 2.50, or ${NONE}`);
  return amount;
}

/**
 * One of two words; undefined for an option that was left out.
 * @throws Error that names the option.
 */
export function readChoice(
  option: string,
  text: string | undefined,
  [yes, no]: readonly [yes: string, no: string],
): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === yes || text === no) return text === yes;
  throw new Error(`${option} must be ${yes} or ${no}`);
}

/**
 * Patterns or slugs between commas; null for `none`, undefined for an option that was left out.
 * @throws Error that names the option.
 */
export function readList(option: string, text: string | undefined): readonly string[] | null | undefined {
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  const list = text.split(",").map((item) => item.trim());
  const isSound = list.every((item) => item !== "" && item.length <= BOUNDS.modelIdChars);
  if (isSound && list.length <= BOUNDS.patterns) return list;
  throw new Error(`${option} must be patterns between commas, such as openai/*,*:free, or ${NONE}`);
}

/**
 * A time in the future as milliseconds since the epoch; null for `none`, undefined for an option that was left out.
 * @throws Error that names the option.
 */
export function readExpiry(text: string | undefined, now: number): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  const expiresAt = Date.parse(text);
  if (expiresAt > now) return expiresAt;
  throw new Error("--expires must be a time in the future, such as 2027-01-31");
}

/**
 * What an account or a key is called.
 * @throws Error where it is empty or too long.
 */
export function readName(text: string): string {
  const name = text.trim();
  if (name !== "" && name.length <= 200) return name;
  throw new Error("the name must have 1 to 200 characters");
}

/** Rows that are shown unless more are asked for. */
export const USUAL_LIMIT = 50;
const MOST_ROWS = 10_000;

/**
 * How many rows at most.
 * @throws InvalidArgumentError
 */
export function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_ROWS) return limit;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST_ROWS}.`);
}

/** The options that were given, as they were written: what the audit log keeps of a command. */
export function describeOptions(options: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => name !== "json"));
}
