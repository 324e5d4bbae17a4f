import { closeSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import type { EntryFrame, Journal, JournalLine, JournalPosition } from "../../core/usage/journal/journal.ts";
import { makePrivateFolder, PRIVATE_FILE } from "../files/private-files.ts";
import { decodeLine, LineBuffer } from "./line-buffer.ts";
import {
  listSegments,
  positionOf,
  recoverSegment,
  SegmentReader,
  SKIPPED_SEGMENT,
  segmentOf,
  segmentPath,
} from "./segments.ts";
import { SpareSegments } from "./spare-segments.ts";

/** The size at which the next file is started. Small, so that the pages of the files in use stay in the processor's caches. Bytes. */
const SEGMENT_BYTES = 1024 * 1024;
const LINE_FEED = 10;

/**
 * Opens a journal in numbered files `NNNNNNNN.log` of a directory. Each line is an entry after its checksum. Written entries are handed to
 * the operating system, so they survive the death of the process at any moment. A power failure loses at most the group of records that the
 * database has not synced yet (docs/adr/0003-journal.md).
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
  /** The size of the segment that is being written, without the waiting `lines`. Bytes. */
  private written = 0;
  /** Bytes of the other segments, by number. */
  private readonly sizes = new Map<number, number>();
  private otherBytes = 0;
  private readonly lines = new LineBuffer();
  private readonly spares: SpareSegments;
  private readonly reader: SegmentReader;

  constructor(private readonly dir: string) {
    this.left = listSegments(dir);
    for (const segment of this.left) this.addSize(segment, statSync(segmentPath(dir, segment)).size);
    this.number = (this.left.at(-1) ?? 0) + 1;
    this.spares = new SpareSegments(dir);
    this.file = this.spares.open(segmentPath(dir, this.number));
    this.reader = new SegmentReader(dir);
  }

  append(text: string, frame?: EntryFrame): JournalPosition {
    const at = positionOf(this.number, this.written + this.lines.length);
    this.lines.add(text, frame);
    return at;
  }

  flush(): void {
    if (this.lines.length === 0) return;
    // The number of a closed descriptor may belong to another file or connection by now.
    if (this.file === CLOSED) throw new Error("the journal is closed");
    while (this.lines.length > 0) {
      const bytes = this.lines.bytes();
      const written = writeSync(this.file, bytes, 0, bytes.length, this.written);
      this.written += written;
      this.lines.drop(written);
    }
    if (this.written >= SEGMENT_BYTES) this.startSegment();
  }

  read(at: JournalPosition): string | null {
    const unwritten = at - positionOf(this.number, this.written);
    if (segmentOf(at) !== this.number || unwritten < 0) return this.reader.read(at);
    const bytes = this.lines.bytes().subarray(unwritten);
    return decodeLine(bytes.subarray(0, bytes.indexOf(LINE_FEED)));
  }

  size(): number {
    return this.otherBytes + this.written + this.lines.length;
  }

  mark(): JournalPosition {
    this.flush();
    return positionOf(this.number, this.written);
  }

  release(before: JournalPosition): void {
    const end = segmentOf(before);
    if (this.number < end) rmSync(segmentPath(this.dir, this.number), { force: true });
    for (const [segment, bytes] of this.sizes) {
      if (segment >= end) return;
      this.spares.release(segmentPath(this.dir, segment), bytes);
      this.sizes.delete(segment);
      this.otherBytes -= bytes;
    }
  }

  *recover(): Iterable<JournalLine> {
    for (const segment of [SKIPPED_SEGMENT, ...this.left]) yield* recoverSegment(this.dir, segment);
  }

  skipped(entries: readonly string[]): void {
    writeSkipped(segmentPath(this.dir, SKIPPED_SEGMENT), entries);
  }

  close(): void {
    this.flush();
    this.reader.close();
    closeSync(this.file);
    this.file = CLOSED;
    this.spares.clear();
  }

  /** Continues in the next file, or in this one if the next cannot be opened: what is written is safe in either. */
  private startSegment(): void {
    let next: number;
    try {
      next = this.spares.open(segmentPath(this.dir, this.number + 1));
    } catch {
      return;
    }
    closeSync(this.file);
    this.addSize(this.number, this.written);
    this.file = next;
    this.number += 1;
    this.written = 0;
  }

  private addSize(segment: number, bytes: number): void {
    this.sizes.set(segment, bytes);
    this.otherBytes += bytes;
  }
}

const CLOSED = -1;

/** Writes a new file and renames it over the old one, so that one of them exists at all times. */
function writeSkipped(file: string, entries: readonly string[]): void {
  if (entries.length === 0) {
    rmSync(file, { force: true });
    return;
  }
  const lines = new LineBuffer();
  for (const entry of entries) lines.add(entry);
  writeFileSync(`${file}.new`, lines.bytes(), { flush: true, mode: PRIVATE_FILE });
  renameSync(`${file}.new`, file);
}
