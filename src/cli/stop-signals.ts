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

const LAST_LINES_MS = 1_000;

/** Ends the process when its last output is written, and soon even if a reader of the log has stopped. */
export function exitSoon(exitCode = 0): void {
  process.exitCode = exitCode;
  setTimeout(() => process.exit(exitCode), LAST_LINES_MS).unref();
}
