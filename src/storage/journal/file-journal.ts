import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Journal } from "../../core/ports/journal.ts";

/** A file is followed by the next when it has this size. Bytes. */
const SEGMENT_BYTES = 8 * 1024 * 1024;

/**
 * A journal in numbered files `NNNNNNNN.log` of a directory. Each line is an entry behind its checksum. What was
 * written is with the operating system, so it outlives the process at any instant; against the loss of power stand
 * the database's own guarantees, at most one group of records later (docs/adr/0003-journal.md).
 */
export function openFileJournal(dir: string): Journal {
  mkdirSync(dir, { recursive: true });
  const left = listSegments(dir);
  let number = (left.at(-1) ?? 0) + 1;
  let file = openSync(segmentPath(dir, number), "a");
  let size = 0;
  let buffered = "";
  /** What a full disk did not take: the next flush goes on where this one stopped. */
  let unwritten: Buffer = NOTHING;
  let isScheduled = false;

  const flush = (): void => {
    if (buffered !== "") {
      const bytes = Buffer.from(buffered, "utf8");
      unwritten = unwritten.length === 0 ? bytes : Buffer.concat([unwritten, bytes]);
      buffered = "";
    }
    while (unwritten.length > 0) {
      const written = writeSync(file, unwritten);
      size += written;
      unwritten = unwritten.subarray(written);
    }
  };

  const startSegment = (): void => {
    closeSync(file);
    number += 1;
    file = openSync(segmentPath(dir, number), "a");
    size = 0;
  };

  return {
    append(entry) {
      buffered += lineOf(entry);
      if (isScheduled) return;
      isScheduled = true;
      // Entries of one turn of the event loop share one write.
      setImmediate(() => {
        isScheduled = false;
        try {
          flush();
        } catch {
          // Whoever relies on an entry flushes it, and hears of the failure there.
        }
      });
    },
    flush,
    mark() {
      flush();
      if (size >= SEGMENT_BYTES) startSegment();
      return number;
    },
    release(mark) {
      for (const segment of listSegments(dir))
        if (segment < mark) rmSync(segmentPath(dir, segment), { force: true });
    },
    recover: () => [
      ...readEntries(readIfThere(join(dir, ASIDE_FILE))),
      ...left.flatMap((segment) => readEntries(readFileSync(segmentPath(dir, segment), "utf8"))),
    ],
    setAside: (entries) => writeAside(dir, entries),
    close() {
      flush();
      closeSync(file);
    },
  };
}

const NOTHING = Buffer.alloc(0);
/** Entries that nobody here could read. */
const ASIDE_FILE = "aside.log";

/** Written whole beside the old file and then put in its place, so that no instant has neither. */
function writeAside(dir: string, entries: readonly string[]): void {
  const file = join(dir, ASIDE_FILE);
  if (entries.length === 0) {
    rmSync(file, { force: true });
    return;
  }
  writeFileSync(`${file}.new`, entries.map(lineOf).join(""), { flush: true });
  renameSync(`${file}.new`, file);
}

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function segmentPath(dir: string, number: number): string {
  return join(dir, `${String(number).padStart(8, "0")}.log`);
}

function listSegments(dir: string): number[] {
  return readdirSync(dir)
    .filter((name) => /^\d{8}\.log$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

/** Entries whose checksum holds. A process may die, and a disk fill up, in the middle of a line. */
function readEntries(text: string): string[] {
  const entries: string[] = [];
  for (const line of text.split("\n")) {
    const entry = line.slice(9);
    if (line.charAt(8) === " " && line.slice(0, 8) === checksum(entry)) entries.push(entry);
  }
  return entries;
}

function lineOf(entry: string): string {
  return `${checksum(entry)} ${entry}\n`;
}

function checksum(entry: string): string {
  return Bun.hash.crc32(entry).toString(16).padStart(8, "0");
}
