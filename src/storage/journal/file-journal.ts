import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
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
  let isScheduled = false;

  const flush = (): void => {
    if (buffered === "") return;
    const bytes = Buffer.from(buffered, "utf8");
    buffered = "";
    size += bytes.length;
    for (let from = 0; from < bytes.length; ) from += writeSync(file, bytes, from);
  };

  const startSegment = (): void => {
    closeSync(file);
    number += 1;
    file = openSync(segmentPath(dir, number), "a");
    size = 0;
  };

  return {
    append(entry) {
      buffered += `${checksum(entry)} ${entry}\n`;
      if (isScheduled) return;
      isScheduled = true;
      // Entries of one turn of the event loop share one write.
      setImmediate(() => {
        isScheduled = false;
        flush();
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
    recover: () => left.flatMap((segment) => readEntries(readFileSync(segmentPath(dir, segment), "utf8"))),
    close() {
      flush();
      closeSync(file);
    },
  };
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

function checksum(entry: string): string {
  return Bun.hash.crc32(entry).toString(16).padStart(8, "0");
}
