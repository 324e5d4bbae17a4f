import type { EntryFrame } from "../../core/usage/journal/journal.ts";
import { CHECKSUM_BYTES, checksum, writeChecksum } from "./checksum.ts";

/** The length of the checksum and a space. */
const HEAD_BYTES = CHECKSUM_BYTES + 1;
/** The maximum number of bytes of one UTF-16 code unit in UTF-8. */
const MAX_CODE_UNIT_BYTES = 3;
const USUAL_BYTES = 64 * 1024;
const LINE_FEED = 10;
const SPACE = 32;

const NO_FRAME: EntryFrame = { start: "", end: "" };

/** Encodes lines into one buffer, which is reused once a file has taken them. */
export class LineBuffer {
  private frame = encodeFrame(NO_FRAME);
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

  /** Adds a line: the checksum of an entry, a space and the entry, which is a text in a frame. */
  add(text: string, frame = NO_FRAME): void {
    if (frame !== this.frame.frame) this.frame = encodeFrame(frame);
    const { start, startCrc, end } = this.frame;
    this.makeRoom(HEAD_BYTES + start.length + text.length * MAX_CODE_UNIT_BYTES + end.length + 1);
    const { buffer } = this;
    let at = this.to + HEAD_BYTES;
    buffer[at - 1] = SPACE;
    buffer.set(start, at);
    at += start.length;
    at += buffer.write(text, at);
    buffer.set(end, at);
    at += end.length;
    buffer[at] = LINE_FEED;
    writeChecksum(Bun.hash.crc32(end, Bun.hash.crc32(text, startCrc)), buffer, this.to);
    this.to = at + 1;
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

function encodeFrame(frame: EntryFrame) {
  const start = Buffer.from(frame.start);
  return { frame, start, startCrc: Bun.hash.crc32(start), end: Buffer.from(frame.end) };
}

/** Returns the entry of a line without its line feed; null if the checksum does not match. */
export function decodeLine(line: Buffer): string | null {
  const entry = line.subarray(HEAD_BYTES);
  const isSound = line.toString("latin1", 0, HEAD_BYTES) === `${checksum(entry)} `;
  return isSound ? entry.toString("utf8") : null;
}
