import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JournalLine } from "../../core/usage/journal/journal.ts";
import { keepDamagedLines } from "./damaged-lines.ts";
import { decodeLine } from "./line-buffer.ts";

/** The number of the file of the entries that this version cannot read. It comes before the others. */
export const SKIPPED_SEGMENT = -1;
const SKIPPED_FILE = "aside.log";
const LINE_FEED = 10;
/** The size that is enough for most records. */
const FIRST_READ_BYTES = 8 * 1024;

/** A position is the number of a file, followed by 32 bits for the offset in it. */
const OFFSETS = 2 ** 32;

/** Returns the position of an offset in a segment. */
export function positionOf(segment: number, offset: number): number {
  return segment * OFFSETS + offset;
}

/** Returns the number of the segment that contains a position. */
export function segmentOf(position: number): number {
  return Math.floor(position / OFFSETS);
}

/** Returns the path of a segment: of a numbered file, or of the skipped entries. */
export function segmentPath(dir: string, segment: number): string {
  return join(dir, segment === SKIPPED_SEGMENT ? SKIPPED_FILE : `${String(segment).padStart(8, "0")}.log`);
}

/** Lists the numbered segments in a directory, the oldest first. */
export function listSegments(dir: string): number[] {
  return readdirSync(dir)
    .filter((name) => /^\d{8}\.log$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

/**
 * Returns the entries of a segment whose checksums match. Damaged lines are written to a separate file. Bytes after the last line feed
 * are dropped: they were being written when the process died, and no client has seen their effect.
 */
export function recoverSegment(dir: string, segment: number): JournalLine[] {
  const file = segmentPath(dir, segment);
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const lines: JournalLine[] = [];
  const damaged: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lineFeed = bytes.indexOf(LINE_FEED, at);
    const line = bytes.subarray(at, lineFeed < 0 ? bytes.length : lineFeed);
    const entry = decodeLine(line);
    if (entry !== null) lines.push({ at: positionOf(segment, at), entry });
    else if (lineFeed >= 0 && line.length > 0) damaged.push(line);
    at += line.length + 1;
  }
  keepDamagedLines(dirname(file), file, damaged);
  return lines;
}

/** Reads single lines of segments. Keeps the last file open, because neighbouring lines are read one after the other. */
export class SegmentReader {
  private segment = -1;
  private file = -1;

  constructor(private readonly dir: string) {}

  /** Returns the entry at a position; null if its line is damaged, which is written to a separate file. @throws Error if the file cannot be read. */
  read(position: number): string | null {
    const segment = segmentOf(position);
    this.open(segment);
    const line = this.readLine(position - positionOf(segment, 0));
    const entry = decodeLine(line);
    if (entry === null) keepDamagedLines(this.dir, segmentPath(this.dir, segment), [line]);
    return entry;
  }

  close(): void {
    if (this.file >= 0) closeSync(this.file);
    this.file = -1;
    this.segment = -1;
  }

  private open(segment: number): void {
    if (this.segment === segment) return;
    this.close();
    this.file = openSync(segmentPath(this.dir, segment), "r");
    this.segment = segment;
  }

  private readLine(offset: number): Buffer {
    for (let size = FIRST_READ_BYTES; ; size *= 4) {
      const buffer = Buffer.allocUnsafe(size);
      const count = readSync(this.file, buffer, 0, size, offset);
      const end = buffer.subarray(0, count).indexOf(LINE_FEED);
      if (end >= 0) return buffer.subarray(0, end);
      if (count < size) return buffer.subarray(0, count);
    }
  }
}
