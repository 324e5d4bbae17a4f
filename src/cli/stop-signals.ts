import { isatty } from "node:tty";

/** Resolves at the first SIGTERM or SIGINT. At the second, calls `onSecond` and ends the process. */
export function waitForStop(onSecond: () => void = () => {}): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (): void => {
      if (isStopping) {
        onSecond();
        process.exit(130);
      }
      isStopping = true;
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}

/**
 * Calls `reload` at each SIGHUP, except one that says that the terminal of the process is gone: that stops the process like SIGTERM, as it
 * ends every program of a terminal.
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
export function exitSoon(exitCode = 0): void {
  process.exitCode = exitCode;
  setTimeout(() => process.exit(exitCode), LAST_LINES_MS).unref();
}
