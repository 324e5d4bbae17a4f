import { createInterface } from "node:readline/promises";
import { escapeControls } from "../../base/text/plain-text.ts";

/**
 * Asks on the terminal, and returns whether the answer is yes.
 * @throws Error if there is no terminal to ask on.
 */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Error("Confirm with --yes: there is no terminal to ask on.");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${escapeControls(question)} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
