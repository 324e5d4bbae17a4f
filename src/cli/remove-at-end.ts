import { rmSync } from "node:fs";

/** The exit code of a program that a signal has ended, as a shell shows it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** A thread may add a file while its folder is removed. */
const ATTEMPTS = 5;

/** Removes a folder as far as possible: a later run removes what is left. */
function removeFolder(folder: string): void {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++)
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch {
      // Tried again.
    }
}

/** Runs a command that writes to a temporary folder, which is removed afterwards, also after SIGINT and SIGTERM. */
export async function removeAtEnd<Result>(folder: string, run: () => Promise<Result>): Promise<Result> {
  const end = (signal: keyof typeof EXIT_CODES): void => {
    removeFolder(folder);
    process.exit(EXIT_CODES[signal]);
  };
  process.once("SIGINT", end).once("SIGTERM", end);
  try {
    return await run();
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
    removeFolder(folder);
  }
}
