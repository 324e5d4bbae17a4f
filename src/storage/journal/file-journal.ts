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

/** The size at which the next file is started. Bytes. */
const SEGMENT_BYTES = 8 * 1024 * 1024;

/**
 * Opens a journal in numbered files `NNNNNNNN.log` of a directory. Each line is an entry after its checksum. Written entries are
 * with the operating system, so they survive the death of the process at any moment. A power failure loses at most the group
 * of records that the database has not synced yet (docs/adr/0003-journal.md).
 */
export function openFileJournal(dir: string): Journal {
  makePrivateFolder(dir);
  return new FileJournal(dir);
}

class FileJournal implements Journal {
  /** The segments of earlier processes. */
  private readonly left: readonly number[];
  /** The segment that is written. */
  private number: number;
  private file: number;
  private size = 0;
  private readonly lines = new LineBuffer();

  constructor(private readonly dir: string) {
    this.left = listSegments(dir);
    this.number = (this.left.at(-1) ?? 0) + 1;
    this.file = openSegment(dir, this.number);
  }

  append(entry: string): void {
    this.lines.add(entry);
  }

  flush(): void {
    // The number of a closed descriptor may belong to another file or connection by now.
    if (this.file === CLOSED && this.lines.length > 0) throw new Error("the journal is closed");
    while (this.lines.length > 0) {
      const written = writeSync(this.file, this.lines.bytes());
      this.size += written;
      this.lines.drop(written);
    }
  }

  mark(): number {
    this.flush();
    if (this.size >= SEGMENT_BYTES) this.startSegment();
    return this.number;
  }

  release(mark: number): void {
    for (const segment of listSegments(this.dir))
      if (segment < mark) rmSync(segmentPath(this.dir, segment), { force: true });
  }

  recover(): string[] {
    return [
      ...recoverEntries(join(this.dir, SKIPPED_FILE)),
      ...this.left.flatMap((segment) => recoverEntries(segmentPath(this.dir, segment))),
    ];
  }

  skipped(entries: readonly string[]): void {
    writeSkipped(this.dir, entries);
  }

  close(): void {
    this.flush();
    closeSync(this.file);
    this.file = CLOSED;
  }

  private startSegment(): void {
    closeSync(this.file);
    this.number += 1;
    this.file = openSegment(this.dir, this.number);
    this.size = 0;
  }
}

function openSegment(dir: string, number: number): number {
  return openSync(segmentPath(dir, number), "a", PRIVATE_FILE);
}

const CLOSED = -1;
/** The file of the entries that this version cannot read. */
const SKIPPED_FILE = "aside.log";

/** Writes a new file and renames it over the old one, so that one of them exists at every moment. */
function writeSkipped(dir: string, entries: readonly string[]): void {
  const file = join(dir, SKIPPED_FILE);
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
 * Returns the entries of a file whose checksums match. Damaged lines are written to a separate file. Bytes after the last line feed are
 * dropped: they were being written when the process died, and no client has seen their effect.
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
/** The most bytes of one UTF-16 code unit in UTF-8. */
const MAX_CODE_UNIT_BYTES = 3;
const USUAL_BYTES = 64 * 1024;

/** Encodes lines into one buffer, which is reused once a file has taken them. */
class LineBuffer {
  private buffer = Buffer.allocUnsafe(USUAL_BYTES);
  /** Bytes that a full disk rejected stay: the next write continues after the last written one. */
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
    this.makeRoom(HEAD_BYTES + entry.length * MAX_CODE_UNIT_BYTES + 1);
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
