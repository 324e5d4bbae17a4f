import { crc32 } from "../../base/secrets/hash.ts";

/**
 * A frame of an AWS event stream (`application/vnd.amazon.eventstream`). On the wire it is the total length (4 bytes), the length
 * of the headers (4), the CRC32 of these eight bytes (4), the headers, the payload, and the CRC32 of everything before it (4).
 * Numbers are big-endian.
 */
export interface Frame {
  /** The headers of type string; Bedrock sends no others. */
  readonly headers: ReadonlyMap<string, string>;
  /** Bytes as Latin-1. */
  readonly payload: string;
}

interface FramesRead {
  /** The frames that the piece completes. */
  readonly complete: readonly Frame[];
  /** The reason why the next bytes are not a frame; null while they may be one. Nothing can be read afterwards. */
  readonly problem: string | null;
}

/** The bytes are not a frame, or a frame that is too large. */
class BrokenFrameError extends Error {}

const PRELUDE_BYTES = 12;
const CRC_BYTES = 4;
const MIN_FRAME_BYTES = PRELUDE_BYTES + CRC_BYTES;

/** Splits a stream into frames. Fails for a frame of more than `maxFrameBytes` as soon as it has read its length. */
export class FrameSplitter {
  /** The pieces of an incomplete frame. They are joined when the frame is complete, so that it takes linear time. */
  private held: string[] = [];
  private heldBytes = 0;
  private needed = PRELUDE_BYTES;

  constructor(private readonly maxFrameBytes: number) {}

  /** Reads the next piece of the stream, bytes as Latin-1, cut anywhere. */
  push(piece: string): FramesRead {
    this.held.push(piece);
    this.heldBytes += piece.length;
    const complete: Frame[] = [];
    try {
      while (this.heldBytes >= this.needed) {
        const frame = this.readHeld();
        if (frame !== null) complete.push(frame);
      }
      return { complete, problem: null };
    } catch (error) {
      if (error instanceof BrokenFrameError) return { complete, problem: error.message };
      throw error;
    }
  }

  private readHeld(): Frame | null {
    const text = this.held.join("");
    if (this.needed === PRELUDE_BYTES) this.needed = readLength(text, this.maxFrameBytes);
    const isWhole = text.length >= this.needed;
    const rest = isWhole ? text.slice(this.needed) : text;
    this.held = [rest];
    this.heldBytes = rest.length;
    if (!isWhole) return null;
    const frame = readFrame(text.slice(0, this.needed));
    this.needed = PRELUDE_BYTES;
    return frame;
  }
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

/** The size of a header's value by its type. Values of types 6 (bytes) and 7 (string) carry their own length. */
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
