import { rmSync } from "node:fs";
import { EXIT_CODES } from "../render/exit-codes.ts";

const CODE_OF_SIGNAL = { SIGINT: EXIT_CODES.interrupted, SIGTERM: EXIT_CODES.terminated } as const;

/** A thread may add a file while its folder is removed. */
const ATTEMPTS = 5;

/** Removes a folder as far as possible. A later run removes the rest. */
function removeFolder(folder: string): void {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++)
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch {
      // Tried again.
    }
}

/** Runs a command that writes to a temporary folder. Removes the folder afterwards, even after SIGINT and SIGTERM. */
export async function removeAtEnd<Result>(folder: string, run: () => Promise<Result>): Promise<Result> {
  const end = (signal: keyof typeof CODE_OF_SIGNAL): void => {
    removeFolder(folder);
    process.exit(CODE_OF_SIGNAL[signal]);
  };
  process.once("SIGINT", end).once("SIGTERM", end);
  try {
    return await run();
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
    removeFolder(folder);
  }
}
