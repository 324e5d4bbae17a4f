import { writeSync } from "node:fs";
import pino, { type DestinationStream } from "pino";
import type { Log, LogLevel } from "../core/ports/log.ts";

/** Lines gather up to so many characters, or for `FLUSH_MS`, before they are written: a write costs more than a line. */
const GATHER_CHARS = 16 * 1024;
const FLUSH_MS = 200;
const STDOUT = 1;

/** A log that can be told to write what it has gathered. */
export interface GatheringLog extends Log {
  flush(): void;
}

/** A log of JSON lines on standard output. `write` takes whole lines; it is for tests. */
export function createLog(level: LogLevel, write: (lines: string) => void = writeToStdout): GatheringLog {
  let gathered = "";
  const flush = (): void => {
    const lines = gathered;
    gathered = "";
    if (lines !== "") write(lines);
  };
  const destination: DestinationStream = {
    write(line) {
      gathered += line;
      if (gathered.length >= GATHER_CHARS) flush();
    },
  };
  const options = { level, base: null, messageKey: "message", timestamp: pino.stdTimeFunctions.isoTime };
  const logger = pino({ ...options, formatters: { level: (label) => ({ level: label }) } }, destination);
  setInterval(flush, FLUSH_MS).unref();
  process.on("exit", flush);
  return {
    debug: (event, fields) => logger.debug(fields ?? {}, event),
    info: (event, fields) => logger.info(fields ?? {}, event),
    warn: (event, fields) => logger.warn(fields ?? {}, event),
    error(event, fields) {
      logger.error(fields ?? {}, event);
      flush();
    },
    flush,
  };
}

/** A reader that is slow or gone must not bring the gateway down: what cannot be written is dropped. */
function writeToStdout(lines: string): void {
  try {
    writeSync(STDOUT, lines);
  } catch {}
}
