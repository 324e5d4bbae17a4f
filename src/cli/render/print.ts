import { escapeLines } from "../../base/text/plain-text.ts";

/*
 * The only place in which commands write to a terminal. Names, notes and texts of vendors may have characters that a terminal would obey:
 * they are written as codes.
 */

/** Prints the result of a command to standard output, if it is not empty. */
export function print(text: string): void {
  if (text !== "") console.log(escapeLines(text));
}

/** Writes to standard output unchanged, without adding a line break. */
export function writeResult(text: string): void {
  process.stdout.write(escapeLines(text));
}

/** Prints a problem to standard error. */
export function printProblem(text: string): void {
  console.error(escapeLines(text));
}

/** Writes a line to standard error that is neither result nor problem: the runtime's console would color it. */
export function tell(line: string): void {
  write(`${line}\n`);
}

/** Writes to standard error unchanged. Calls `done` afterwards. */
export function write(text: string, done?: (error?: Error | null) => void): void {
  process.stderr.write(escapeLines(text), done);
}
