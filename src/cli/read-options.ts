import { type Command, InvalidArgumentError } from "commander";
import { BOUNDS } from "../base/bounds.ts";
import { parseDollars } from "../base/money.ts";
import type { RateLimitChange } from "../core/accounts/own-rate-limit.ts";

/** The value that removes a limit or a restriction. */
const NONE = "none";

/**
 * Reads an amount in US dollars as nanodollars; null for `none`, undefined for an absent option.
 * @throws Error naming the option.
 */
export function readDollars(option: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  const amount = parseDollars(text);
  if (amount === null || amount < 0)
    throw new Error(`${option} must be an amount in US dollars, such as 2.50, or ${NONE}`);
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

/** The options of a rate limit: each is absent, a number, or `none`. */
export interface RateLimitOptions {
  readonly requestsPerMinute?: string;
  readonly tokensPerMinute?: string;
  readonly concurrent?: string;
}

/** Adds the options of a rate limit to a command. */
export function addRateLimitOptions(command: Command): Command {
  return command
    .option("--requests-per-minute <count>", "Limit of requests per minute, or none for the configured one")
    .option(
      "--tokens-per-minute <count>",
      "Limit of prompt and completion tokens per minute, or none for the configured one",
    )
    .option("--concurrent <count>", "Limit of concurrent requests, or none for the configured one");
}

/**
 * Reads the change of a rate limit; undefined if none of its options is given.
 * @throws Error naming the option.
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
 * Reads one of two words as true or false; undefined for an absent option.
 * @throws Error naming the option.
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
 * Reads a comma-separated list of patterns or slugs; null for `none`, undefined for an absent option.
 * @throws Error naming the option.
 */
export function readList(option: string, text: string | undefined): readonly string[] | null | undefined {
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  const list = text.split(",").map((item) => item.trim());
  const isSound = list.every((item) => item !== "" && item.length <= BOUNDS.modelIdChars);
  if (isSound && list.length <= BOUNDS.patterns) return list;
  throw new Error(`${option} must be a comma-separated list, such as openai/*,*:free, or ${NONE}`);
}

/**
 * Reads a future time as milliseconds since the epoch; null for `none`, undefined for an absent option.
 * @throws Error naming the option.
 */
export function readExpiry(text: string | undefined, now: number): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  const expiresAt = Date.parse(text);
  if (expiresAt > now) return expiresAt;
  throw new Error("--expires must be a time in the future, such as 2027-01-31");
}

/**
 * Reads the name of an account or a key.
 * @throws Error if it is empty or too long.
 */
export function readName(text: string): string {
  const name = text.trim();
  if (name !== "" && name.length <= 200) return name;
  throw new Error("the name must have 1 to 200 characters");
}

/** The default number of rows of a list. */
export const DEFAULT_LIMIT = 50;
const MAX_ROWS = 10_000;

/**
 * Reads the maximum number of rows.
 * @throws InvalidArgumentError
 */
export function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_ROWS) return limit;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_ROWS}.`);
}

/** Returns the given options as written, for the audit log. */
export function describeOptions(options: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => name !== "json"));
}
