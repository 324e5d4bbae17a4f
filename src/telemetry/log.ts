import { writeSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { LOG_LEVELS, type Log, type LogLevel } from "../core/ports/log.ts";

/** Lines gather up to so many characters, or for `FLUSH_MS`, before they are written: a write costs more than a line. */
const GATHER_CHARS = 16 * 1024;
const FLUSH_MS = 200;
const STDOUT = 1;

/** A log that can be told to write what it has gathered. */
export interface GatheringLog extends Log {
  flush(): void;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * A log of JSON lines on standard output: `level`, `time`, `message`, then the event's fields. `write` takes whole
 * lines; it is for tests.
 */
export function createLog(
  level: LogLevel,
  clock: Clock,
  write: (lines: string) => void = writeToStdout,
): GatheringLog {
  const threshold = LOG_LEVELS.indexOf(level);
  let gathered = "";
  const flush = (): void => {
    const lines = gathered;
    gathered = "";
    if (lines !== "") write(lines);
  };
  const tell = (at: LogLevel): ((event: string, fields?: Fields) => void) => {
    if (LOG_LEVELS.indexOf(at) < threshold) return () => {};
    return (message, fields) => {
      const printed = JSON.stringify(fields ?? {});
      const rest = printed === "{}" ? "}" : `,${printed.slice(1)}`;
      gathered += `{"level":"${at}","time":"${new Date(clock.now()).toISOString()}","message":${JSON.stringify(message)}${rest}\n`;
      if (at === "error" || gathered.length >= GATHER_CHARS) flush();
    };
  };
  clock.every(FLUSH_MS, flush);
  process.on("exit", flush);
  return { debug: tell("debug"), info: tell("info"), warn: tell("warn"), error: tell("error"), flush };
}

/** A reader that is slow or gone must not bring the gateway down: what cannot be written is dropped. */
function writeToStdout(lines: string): void {
  try {
    writeSync(STDOUT, lines);
  } catch {}
}
