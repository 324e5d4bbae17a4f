import { type Command, InvalidArgumentError } from "commander";
import { BOUNDS } from "../base/bounds.ts";
import { parseDollars } from "../base/money.ts";
import type { RateLimitChange } from "../core/accounts/own-rate-limit.ts";

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

/** The option of commands that can print JSON. */
export interface JsonOption {
  readonly json?: boolean;
}

/** Adds `--json`. */
export function addJsonOption(command: Command): Command {
  return command.option("--json", "Print JSON");
}

/** A rate limit as options of a command; each is left out, a number, or `none`. */
export interface RateLimitOptions {
  readonly requestsPerMinute?: string;
  readonly tokensPerMinute?: string;
  readonly concurrent?: string;
}

/** Adds the options of a rate limit to a command. */
export function addRateLimitOptions(command: Command): Command {
  return command
    .option("--requests-per-minute <count>", "its own limit; none: as configured")
    .option("--tokens-per-minute <count>", "its own limit, prompts and answers together; none: as configured")
    .option("--concurrent <count>", "its own limit of requests at once; none: as configured");
}

/**
 * What is to change of a rate limit; undefined where none of its options was given.
 * @throws Error that names the option.
 */
export function readRateLimit(options: RateLimitOptions): RateLimitChange | undefined {
  const change = {
    requestsPerMinute: readCount("--requests-per-minute", options.requestsPerMinute),
    tokensPerMinute: readCount("--tokens-per-minute", options.tokensPerMinute),
    concurrent: readCount("--concurrent", options.concurrent),
  };
  return Object.values(change).some((count) => count !== undefined) ? change : undefined;
}

function readCount(option: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new Error(`${option} must be a whole number of at least 1, or ${NONE}`);
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
