import { type Command, InvalidArgumentError } from "commander";
import { parseDollars } from "../../base/numbers/money.ts";
import { hasControls } from "../../base/text/plain-text.ts";
import { systemClock } from "../../base/time/clock.ts";
import { EXPIRY_FORMAT } from "../../core/accounts/fields/field-option.ts";

/** The option of commands that can print JSON. */
export interface JsonOption {
  readonly json?: boolean | undefined;
}

/** Adds `--json`. */
export function addJsonOption(command: Command): Command {
  return command.option("--json", "Print JSON");
}

/** Adds examples to the end of a command's help. */
export function addExamples(command: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ ${example}`);
  return command.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
}

/**
 * Reads the time at which something expires. Returns it as RFC 3339; null for `none`.
 * @throws Error naming the option.
 */
export function readExpiry(text: string): unknown {
  const time = EXPIRY_FORMAT.parse(text, systemClock.now());
  if (time === undefined) throw new Error(`--expires must be ${EXPIRY_FORMAT.expected}`);
  return time;
}

/** Reads a positive amount of US dollars. Returns it unchanged. @throws InvalidArgumentError */
export function readAmount(text: string): string {
  if ((parseDollars(text) ?? 0) > 0) return text;
  throw new InvalidArgumentError(
    "It must be greater than 0 and have at most 9 decimal places, such as 12.50.",
  );
}

/**
 * Reads a note, which lists and logs show.
 * @throws InvalidArgumentError
 */
export function readNote(text: string): string {
  if (text.trim() !== "" && text.length <= MAX_NOTE_CHARS && !hasControls(text)) return text.trim();
  throw new InvalidArgumentError(
    `It must be 1 to ${MAX_NOTE_CHARS} characters on one line, without control characters.`,
  );
}

const MAX_NOTE_CHARS = 500;

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
