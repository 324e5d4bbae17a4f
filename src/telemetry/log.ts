import { write } from "node:fs";
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
 * A log of JSON lines on standard output: `level`, `time`, `message`, then the event's fields. `writeLines`
 * takes whole lines; it is for tests.
 */
export function createLog(
  level: LogLevel,
  clock: Clock,
  writeLines: (lines: string) => void = createStdoutWriter(),
): GatheringLog {
  const threshold = LOG_LEVELS.indexOf(level);
  let gathered = "";
  const flush = (): void => {
    const lines = gathered;
    gathered = "";
    if (lines !== "") writeLines(lines);
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
  return { debug: tell("debug"), info: tell("info"), warn: tell("warn"), error: tell("error"), flush };
}

/** Lines that may wait for a slow reader. Past it the newest are dropped, and counted. Characters. */
const MAX_WAITING_CHARS = 4 * 1024 * 1024;

/**
 * Writes lines to standard output without ever waiting for whoever reads it: a pipe that nobody empties would else
 * stop the whole gateway. One write is under way at a time; what comes meanwhile waits, within a bound.
 */
export function createStdoutWriter(descriptor = STDOUT): (lines: string) => void {
  let waiting = "";
  let dropped = 0;
  let isWriting = false;
  const pump = (): void => {
    if (isWriting || waiting === "") return;
    const bytes = Buffer.from(waiting);
    waiting = "";
    isWriting = true;
    writeAll(descriptor, bytes, 0, () => {
      isWriting = false;
      if (dropped > 0)
        waiting += `${JSON.stringify({ level: "warn", message: "log lines were dropped", dropped })}\n`;
      dropped = 0;
      pump();
    });
  };
  return (lines) => {
    if (waiting.length + lines.length > MAX_WAITING_CHARS) dropped += lines.split("\n").length - 1;
    else waiting += lines;
    pump();
  };
}

/** A pipe that does not block says that it is full; then it is tried again. */
const AGAIN_MS = 50;

/** Calls `done` when all is written, or cannot be. */
function writeAll(descriptor: number, bytes: Buffer, from: number, done: () => void): void {
  write(descriptor, bytes, from, bytes.length - from, null, (error, written) => {
    if (error?.code === "EAGAIN") setTimeout(() => writeAll(descriptor, bytes, from, done), AGAIN_MS);
    else if (error || from + written >= bytes.length) done();
    else writeAll(descriptor, bytes, from + written, done);
  });
}
