import pino, { type DestinationStream } from "pino";
import type { Log, LogLevel } from "../core/ports/log.ts";

/** Lines gather up to so many bytes, or until `FLUSH_MS`, before they are written. */
const GATHER_BYTES = 8 * 1024;
const FLUSH_MS = 250;

/**
 * A log of JSON lines on standard output. Lines are written in groups; the last are written at exit.
 * `destination` is for tests.
 */
export function createLog(level: LogLevel, destination?: DestinationStream): Log & { flush(): void } {
  const stream = pino.destination({ dest: 1, sync: true, minLength: GATHER_BYTES });
  const logger = pino(
    { level, base: null, messageKey: "message", timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? stream,
  );
  const flush = (): void => {
    if (destination === undefined) stream.flushSync();
  };
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();
  return {
    debug: (event, fields) => logger.debug(fields ?? {}, event),
    info: (event, fields) => logger.info(fields ?? {}, event),
    warn: (event, fields) => logger.warn(fields ?? {}, event),
    error: (event, fields) => {
      logger.error(fields ?? {}, event);
      flush();
    },
    flush,
  };
}
