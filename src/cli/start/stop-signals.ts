import { isatty } from "node:tty";
import { EXIT_CODES } from "../render/exit-codes.ts";

/** Resolves at the first SIGTERM or SIGINT. At the second, calls `onSecond` and ends the process. */
export function waitForStop(onSecond: () => void = () => {}): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (): void => {
      if (isStopping) {
        onSecond();
        process.exit(EXIT_CODES.interrupted);
      }
      isStopping = true;
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}

/** How long a start may continue after it was told to stop, so that requests that it has already accepted are answered. Milliseconds. */
const START_MS = 2_000;

/** Resolves to the gateway once it has started. Ends the process if a stop signal arrives and the start takes two more seconds. */
export async function untilStopped<Started>(
  starting: Promise<Started>,
  stop: Promise<void>,
): Promise<Started> {
  let isStarting = true;
  void stop.then(() => {
    if (isStarting) setTimeout(() => isStarting && process.exit(EXIT_CODES.terminated), START_MS);
  });
  try {
    return await starting;
  } finally {
    isStarting = false;
  }
}

/**
 * Calls `reload` at each SIGHUP, unless the process has lost its terminal. A lost terminal stops the process like SIGTERM, as it stops
 * every program of a terminal.
 */
export function onHangup(reload: () => void): void {
  const hadTerminal = isatty(STDIN);
  process.on("SIGHUP", () => {
    if (hadTerminal && !isatty(STDIN)) process.kill(process.pid, "SIGTERM");
    else reload();
  });
}

const STDIN = 0;
const LAST_LINES_MS = 1_000;

/** Ends the process when its last output is written, and soon even if a reader of the log has stopped. */
export function exitSoon(exitCode: number = EXIT_CODES.done): void {
  process.exitCode = exitCode;
  setTimeout(() => process.exit(exitCode), LAST_LINES_MS).unref();
}
