import { write } from "node:fs";
import { LOG_LEVELS, type Log, type LogLevel } from "../base/failures/log.ts";
import { escapeLines } from "../base/text/plain-text.ts";
import type { Clock } from "../base/time/clock.ts";

/** The number of events that are written together, because single writes cost twice as much. */
const BATCH_EVENTS = 128;
/** How long an event waits for others. Milliseconds. */
const FLUSH_MS = 200;
const STDOUT = 1;

/** A log that writes its events in batches. */
export interface BufferedLog extends Log {
  /** Writes the buffered events. */
  flush(): void;
  /** Sets the least severe level that is logged from now on. */
  setLevel(level: LogLevel): void;
}

type Fields = Readonly<Record<string, unknown>>;

/** An event that is not written yet. */
interface BufferedEvent {
  readonly level: LogLevel;
  readonly time: number;
  readonly message: string;
  readonly fields: Fields | undefined;
}

/**
 * Creates a log of JSON lines: `level`, `time`, `message`, then the fields of the event, which must not change afterwards. `writeLines`
 * receives complete lines; by default it writes to standard output.
 */
export function createLog(
  level: LogLevel,
  clock: Clock,
  writeLines: (lines: string) => void = createStdoutWriter(),
): BufferedLog {
  let threshold = LOG_LEVELS.indexOf(level);
  let buffered: BufferedEvent[] = [];
  const flush = (): void => {
    if (buffered.length === 0) return;
    const events = buffered;
    buffered = [];
    let lines = "";
    const printTime = createTimePrinter();
    for (const event of events) lines += printEvent(event, printTime);
    // A log is also read in terminals. JSON leaves some of the characters in its strings that these obey.
    writeLines(escapeLines(lines));
  };
  const createWriter = (at: LogLevel): ((event: string, fields?: Fields) => void) => {
    const severity = LOG_LEVELS.indexOf(at);
    return (message, fields) => {
      if (severity < threshold) return;
      buffered.push({ level: at, time: clock.now(), message, fields });
      if (at === "error" || buffered.length >= BATCH_EVENTS) flush();
    };
  };
  clock.every(FLUSH_MS, flush);
  return {
    debug: createWriter("debug"),
    info: createWriter("info"),
    warn: createWriter("warn"),
    error: createWriter("error"),
    flush,
    setLevel(next) {
      threshold = LOG_LEVELS.indexOf(next);
    },
  };
}

/** Returns a log that adds `fields` to each event. */
export function withFields(log: BufferedLog, fields: Fields): BufferedLog {
  const add = (level: Exclude<LogLevel, "silent">) => (event: string, more?: Fields) =>
    log[level](event, { ...fields, ...more });
  return {
    debug: add("debug"),
    info: add("info"),
    warn: add("warn"),
    error: add("error"),
    flush: () => log.flush(),
    setLevel: (level) => log.setLevel(level),
  };
}

function printEvent(
  { level, time, message, fields }: BufferedEvent,
  printTime: (ms: number) => string,
): string {
  const printed = JSON.stringify(fields ?? {});
  const rest = printed === "{}" ? "}" : `,${printed.slice(1)}`;
  return `{"level":"${level}","time":"${printTime(time)}","message":${JSON.stringify(message)}${rest}\n`;
}

/** Returns a function that prints times. Many events of a batch have the same one. */
function createTimePrinter(): (ms: number) => string {
  let last = Number.NaN;
  let text = "";
  return (ms) => {
    if (ms !== last) text = new Date(ms).toISOString();
    last = ms;
    return text;
  };
}

/** The maximum number of characters that wait for a slow reader. Further lines are dropped and counted. */
const MAX_WAITING_CHARS = 4 * 1024 * 1024;

/**
 * Creates a writer to standard output that never blocks, so that an unread pipe does not stop the gateway. Only one write is in progress at
 * a time; further lines wait, within a bound.
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
    writeAll(descriptor, bytes, () => {
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

/** The delay of the next try after a non-blocking pipe was full. Milliseconds. */
const RETRY_MS = 50;

/** Calls `done` when all bytes are written, or cannot be. */
function writeAll(descriptor: number, bytes: Buffer, done: () => void): void {
  write(descriptor, bytes, 0, bytes.length, null, (error, written) => {
    if (error?.code === "EAGAIN") setTimeout(() => writeAll(descriptor, bytes, done), RETRY_MS);
    else if (error || written >= bytes.length) done();
    else writeAll(descriptor, bytes.subarray(written), done);
  });
}
