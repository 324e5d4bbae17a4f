import { rmSync } from "node:fs";

/** The exit code of a program that a signal has ended, as a shell shows it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** Runs a command that writes to a temporary folder, which is removed afterwards, also after SIGINT and SIGTERM. */
export async function removeAtEnd<Result>(folder: string, run: () => Promise<Result>): Promise<Result> {
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const end = (signal: keyof typeof EXIT_CODES): void => {
    remove();
    process.exit(EXIT_CODES[signal]);
  };
  process.once("SIGINT", end).once("SIGTERM", end);
  try {
    return await run();
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
    remove();
  }
}
