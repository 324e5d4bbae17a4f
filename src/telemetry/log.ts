import { write } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { LOG_LEVELS, type Log, type LogLevel } from "../base/log.ts";

/** Events gather up to so many, or for `FLUSH_MS`, and are printed together: one after the other each costs twice as much. */
const GATHER_EVENTS = 128;
const FLUSH_MS = 200;
const STDOUT = 1;

/** A log that can be told to write what it has gathered. */
export interface BufferedLog extends Log {
  flush(): void;
}

type Fields = Readonly<Record<string, unknown>>;

/** An event that is not printed yet. */
interface GatheredEvent {
  readonly level: LogLevel;
  readonly time: number;
  readonly message: string;
  readonly fields: Fields | undefined;
}

/**
 * A log of JSON lines on standard output: `level`, `time`, `message`, then the event's fields, which are not to change
 * afterwards. `writeLines` takes whole lines; it is for tests.
 */
export function createLog(
  level: LogLevel,
  clock: Clock,
  writeLines: (lines: string) => void = createStdoutWriter(),
): BufferedLog {
  const threshold = LOG_LEVELS.indexOf(level);
  let gathered: GatheredEvent[] = [];
  const flush = (): void => {
    if (gathered.length === 0) return;
    const events = gathered;
    gathered = [];
    let lines = "";
    for (const event of events) lines += printEvent(event);
    writeLines(lines);
  };
  const tell = (at: LogLevel): ((event: string, fields?: Fields) => void) => {
    if (LOG_LEVELS.indexOf(at) < threshold) return () => {};
    return (message, fields) => {
      gathered.push({ level: at, time: clock.now(), message, fields });
      if (at === "error" || gathered.length >= GATHER_EVENTS) flush();
    };
  };
  clock.every(FLUSH_MS, flush);
  return { debug: tell("debug"), info: tell("info"), warn: tell("warn"), error: tell("error"), flush };
}

function printEvent({ level, time, message, fields }: GatheredEvent): string {
  const printed = JSON.stringify(fields ?? {});
  const rest = printed === "{}" ? "}" : `,${printed.slice(1)}`;
  return `{"level":"${level}","time":"${new Date(time).toISOString()}","message":${JSON.stringify(message)}${rest}\n`;
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
