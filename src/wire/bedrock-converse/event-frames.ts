import { crc32 } from "node:zlib";

/**
 * AWS event stream framing (`application/vnd.amazon.eventstream`), bytes read as Latin-1. Numbers are big-endian:
 * total length (4), length of headers (4), CRC32 of those eight bytes (4), headers, payload, CRC32 of all before (4).
 */
export interface Frame {
  /** Headers that are strings; Bedrock has no others. */
  readonly headers: ReadonlyMap<string, string>;
  /** Bytes read as Latin-1. */
  readonly payload: string;
}

export interface FrameSplitter {
  /** Takes the next piece, cut anywhere. */
  push(piece: string): FramesRead;
}

export interface FramesRead {
  /** The frames that the piece completes. */
  readonly complete: readonly Frame[];
  /** Why the bytes behind them are no frame; nothing after can be read. Null while they may be one. */
  readonly problem: string | null;
}

/** Bytes that are no frame, or one over the bound. */
class BrokenFrameError extends Error {}

const PRELUDE_BYTES = 12;
const CRC_BYTES = 4;
const MIN_FRAME_BYTES = PRELUDE_BYTES + CRC_BYTES;

/** A splitter that refuses frames of more than `maxFrameBytes` once it has read their length. */
export function createFrameSplitter(maxFrameBytes: number): FrameSplitter {
  /** What came of a frame that is not whole; joined only once enough is there, so that it costs its length once. */
  let held: string[] = [];
  let heldBytes = 0;
  let needed = PRELUDE_BYTES;

  const takeHeld = (): string => {
    const text = held.length === 1 ? (held[0] as string) : held.join("");
    held = [];
    heldBytes = 0;
    return text;
  };

  const readHeld = (): Frame | null => {
    const text = takeHeld();
    if (needed === PRELUDE_BYTES) needed = readLength(text, maxFrameBytes);
    const isWhole = text.length >= needed;
    held = [isWhole ? text.slice(needed) : text];
    heldBytes = held[0]?.length ?? 0;
    if (!isWhole) return null;
    const frame = readFrame(text.slice(0, needed));
    needed = PRELUDE_BYTES;
    return frame;
  };

  return {
    push(piece) {
      held.push(piece);
      heldBytes += piece.length;
      const complete: Frame[] = [];
      try {
        while (heldBytes >= needed) {
          const frame = readHeld();
          if (frame !== null) complete.push(frame);
        }
        return { complete, problem: null };
      } catch (error) {
        if (error instanceof BrokenFrameError) return { complete, problem: error.message };
        throw error;
      }
    },
  };
}

function readLength(text: string, maxFrameBytes: number): number {
  const bytes = Buffer.from(text.slice(0, PRELUDE_BYTES), "latin1");
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8))
    throw new BrokenFrameError("a frame's prelude is damaged");
  const total = bytes.readUInt32BE(0);
  if (total > maxFrameBytes) throw new BrokenFrameError(`a frame of over ${maxFrameBytes} bytes`);
  if (total < MIN_FRAME_BYTES || bytes.readUInt32BE(4) > total - MIN_FRAME_BYTES)
    throw new BrokenFrameError("a frame's lengths do not agree");
  return total;
}

function readFrame(text: string): Frame {
  const bytes = Buffer.from(text, "latin1");
  const end = bytes.length - CRC_BYTES;
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end))
    throw new BrokenFrameError("a frame is damaged");
  const headersEnd = PRELUDE_BYTES + bytes.readUInt32BE(4);
  return {
    headers: readHeaders(bytes.subarray(PRELUDE_BYTES, headersEnd)),
    payload: text.slice(headersEnd, end),
  };
}

/** Bytes of a header's value by its type; types 6 (bytes) and 7 (string) say their length themselves. */
const VALUE_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
const BYTES_TYPE = 6;
const STRING_TYPE = 7;

function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  const take = (count: number): Buffer => {
    if (at + count > bytes.length) throw new BrokenFrameError("a frame's headers are cut off");
    at += count;
    return bytes.subarray(at - count, at);
  };
  while (at < bytes.length) {
    const name = take(take(1).readUInt8()).toString("utf8");
    const type = take(1).readUInt8();
    const isSized = type === BYTES_TYPE || type === STRING_TYPE;
    const size = isSized ? take(2).readUInt16BE() : VALUE_BYTES[type];
    if (size === undefined) throw new BrokenFrameError(`a frame's header is of the unknown type ${type}`);
    const value = take(size);
    if (type === STRING_TYPE) headers.set(name, value.toString("utf8"));
  }
  return headers;
}
