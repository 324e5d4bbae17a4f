import { type Command, InvalidArgumentError } from "commander";
import { hasControls } from "../../base/plain-text.ts";
import { EXPIRY_FORMAT, NAME_FORMAT } from "../../core/accounts/field-option.ts";
import { NameInput } from "../../core/accounts/resource-fields.ts";

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
 * Reads the time at which something expires; null for `none` and for an absent option. `now` is in milliseconds since the epoch.
 * @throws Error naming the option.
 */
export function readExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const time = EXPIRY_FORMAT.parse(text, now);
  if (time === undefined) throw new Error(`--expires must be ${EXPIRY_FORMAT.expected}`);
  return time === null ? null : Date.parse(time as string);
}

/**
 * Reads the name of an account or a key.
 * @throws Error if it is empty or too long.
 */
export function readName(text: string): string {
  const { success, data } = NameInput.safeParse(text);
  if (success) return data;
  throw new Error(`the name must be ${NAME_FORMAT.expected}`);
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

/** Returns the given options as written, for the audit log. */
export function auditedOptions(options: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => name !== "json"));
}
