import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Journal } from "../../core/usage/journal.ts";
import { makePrivateFolder, PRIVATE_FILE } from "../files/private-files.ts";
import { checksum } from "./checksum.ts";
import { keepDamagedLines } from "./damaged-lines.ts";

/** The size at which a file is followed by the next. Bytes. */
const SEGMENT_BYTES = 8 * 1024 * 1024;

/**
 * Opens a journal in numbered files `NNNNNNNN.log` of a directory. Each line is an entry after its checksum. What was written
 * is with the operating system, so it survives the death of the process at any moment. A power failure loses at most the group
 * of records that the database has not synced yet (docs/adr/0003-journal.md).
 */
export function openFileJournal(dir: string): Journal {
  makePrivateFolder(dir);
  const left = listSegments(dir);
  let number = (left.at(-1) ?? 0) + 1;
  let file = openSync(segmentPath(dir, number), "a", PRIVATE_FILE);
  let size = 0;
  const lines = new LineBuffer();

  const flush = (): void => {
    // The descriptor's number may belong to another file or connection by now.
    if (file === CLOSED && lines.length > 0) throw new Error("the journal is closed");
    while (lines.length > 0) {
      const written = writeSync(file, lines.bytes());
      size += written;
      lines.drop(written);
    }
  };

  const startSegment = (): void => {
    closeSync(file);
    number += 1;
    file = openSync(segmentPath(dir, number), "a", PRIVATE_FILE);
    size = 0;
  };

  return {
    append: (entry) => lines.add(entry),
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
      ...recoverEntries(join(dir, ASIDE_FILE)),
      ...left.flatMap((segment) => recoverEntries(segmentPath(dir, segment))),
    ],
    skipped: (entries) => writeAside(dir, entries),
    close() {
      flush();
      closeSync(file);
      file = CLOSED;
    },
  };
}

const CLOSED = -1;
/** Keeps the entries that this version cannot read. */
const ASIDE_FILE = "aside.log";

/** Writes a new file and renames it over the old one, so that one of them exists at every moment. */
function writeAside(dir: string, entries: readonly string[]): void {
  const file = join(dir, ASIDE_FILE);
  if (entries.length === 0) {
    rmSync(file, { force: true });
    return;
  }
  writeFileSync(`${file}.new`, linesOf(entries), { flush: true, mode: PRIVATE_FILE });
  renameSync(`${file}.new`, file);
}

function linesOf(entries: readonly string[]): Buffer {
  const lines = new LineBuffer();
  for (const entry of entries) lines.add(entry);
  return lines.bytes();
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

/**
 * Returns the entries of a file whose checksums match. Damaged lines are kept in a file of their own. What follows the last line
 * feed is dropped: it was being written when the process died, and had no effect that a client could see.
 */
function recoverEntries(file: string): string[] {
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const entries: string[] = [];
  const damaged: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lineFeed = bytes.indexOf(LINE_FEED, at);
    const line = bytes.subarray(at, lineFeed < 0 ? bytes.length : lineFeed);
    const entry = line.subarray(HEAD_BYTES);
    if (line.toString("latin1", 0, HEAD_BYTES) === `${checksum(entry)} `)
      entries.push(entry.toString("utf8"));
    else if (lineFeed >= 0 && line.length > 0) damaged.push(line);
    at += line.length + 1;
  }
  keepDamagedLines(dirname(file), file, damaged);
  return entries;
}

/** The length of the checksum and a space. */
const HEAD_BYTES = 9;
const LINE_FEED = 10;
/** The most bytes that one UTF-16 code unit takes in UTF-8. */
const MOST_BYTES = 3;
const USUAL_BYTES = 64 * 1024;

/** Encodes lines into one buffer, which is reused once a file has taken them. */
class LineBuffer {
  private buffer = Buffer.allocUnsafe(USUAL_BYTES);
  /** Bytes that a full disk did not take stay: the next write continues where the last one stopped. */
  private from = 0;
  private to = 0;

  get length(): number {
    return this.to - this.from;
  }

  bytes(): Buffer {
    return this.buffer.subarray(this.from, this.to);
  }

  /** Adds a line: the checksum of an entry, a space and the entry. */
  add(entry: string): void {
    this.makeRoom(HEAD_BYTES + entry.length * MOST_BYTES + 1);
    const start = this.to + HEAD_BYTES;
    const end = start + this.buffer.write(entry, start);
    this.buffer.write(`${checksum(this.buffer.subarray(start, end))} `, this.to, "latin1");
    this.buffer[end] = LINE_FEED;
    this.to = end + 1;
  }

  /** Drops the first `count` bytes, which have been written. */
  drop(count: number): void {
    this.from += count;
    if (this.from < this.to) return;
    this.from = 0;
    this.to = 0;
    if (this.buffer.length > USUAL_BYTES) this.buffer = Buffer.allocUnsafe(USUAL_BYTES);
  }

  private makeRoom(count: number): void {
    if (this.to + count <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.length + count));
    this.to = this.buffer.copy(larger, 0, this.from, this.to);
    this.from = 0;
    this.buffer = larger;
  }
}
