import { removeDataDirs } from "./folders.ts";
import { endAll, killAll } from "./processes.ts";

/**
 * Runs a program of the bench. Ends all processes that it started and removes their data folders, also when `main` rejects, which
 * prints the message and makes the exit code 1, and on a signal.
 */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      endAll().finally(() => process.exit(130));
    });
  }
  process.on("exit", () => {
    killAll();
    removeDataDirs();
  });
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    await endAll();
  }
}
