import type { Http1Bounds } from "./bounds.ts";

const CR = 13;
const LF = 10;
const SPACE = 32;
const TAB = 9;
const SEMICOLON = 59;

/** The largest chunk size, which a number represents exactly. */
const MAX_CHUNK_BYTES = 2 ** 48;

/** The number of digits of a chunk size that fits into one read. */
const PLAIN_DIGITS = 7;

enum At {
  /** Before the first digit of a size, which is required. */
  SizeStart,
  Size,
  /** Blanks after a size, with which old servers pad it. */
  SizePad,
  Extension,
  SizeLf,
  Data,
  DataCr,
  DataLf,
  TrailerStart,
  Trailer,
  TrailerLf,
  EndLf,
  Ended,
}

/** The value of a hexadecimal digit, or -1. */
const HEX = Int8Array.from({ length: 256 }, (_, code) =>
  "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase()),
);

/**
 * Decodes a chunked body incrementally. Extensions and trailers are ignored.
 */
export class ChunkedDecoder {
  /** Why the body is rejected; null if it is not. */
  error: string | null = null;

  private readonly bounds: Http1Bounds;
  private at: At = At.SizeStart;
  /** The size being read, then the remaining bytes of the chunk. */
  private remaining = 0;
  /** Bytes of the line being read; of all trailers together once they have begun. */
  private lineBytes = 0;

  /** The range of the argument of `decode` that contains the decoded body. */
  bodyAt = 0;
  bodyEnd = 0;

  constructor(bounds: Http1Bounds) {
    this.bounds = bounds;
  }

  /** Whether the last chunk and the trailers have been read. */
  get ended(): boolean {
    return this.at === At.Ended;
  }

  /**
   * Decodes `bytes` from offset `from`, and returns the offset after the last decoded byte. Moves the data of several chunks together
   * within `bytes`, so that a read of many small chunks becomes one piece.
   */
  decode(bytes: Uint8Array, from: number): number {
    this.bodyAt = from;
    this.bodyEnd = from;
    let at = from;
    while (at < bytes.length && this.at !== At.Ended && this.error === null) {
      if (this.at === At.SizeStart) at = this.takeWholeChunks(bytes, at);
      if (this.at === At.Data) at = this.takeData(bytes, at);
      else if (at < bytes.length) this.at = this.takeFraming(bytes[at++]!);
    }
    return at;
  }

  /**
   * Decodes the chunks that are complete in `bytes` and have no extension, as in event streams. Returns the offset of the
   * first other chunk, which is decoded byte by byte.
   */
  private takeWholeChunks(bytes: Uint8Array, from: number): number {
    let at = from;
    for (;;) {
      let digits = at;
      let size = 0;
      while (digits < bytes.length && digits - at < PLAIN_DIGITS && HEX[bytes[digits]!]! >= 0) {
        size = size * 16 + HEX[bytes[digits++]!]!;
      }
      const end = digits + 2 + size;
      if (size === 0 || end + 2 > bytes.length) return at;
      if (!isLineEnd(bytes, digits) || !isLineEnd(bytes, end)) return at;
      this.moveData(bytes, digits + 2, end);
      at = end + 2;
    }
  }

  private takeData(bytes: Uint8Array, at: number): number {
    const end = Math.min(at + this.remaining, bytes.length);
    this.moveData(bytes, at, end);
    this.remaining -= end - at;
    if (this.remaining === 0) this.at = At.DataCr;
    return end;
  }

  /** Appends data to the body that was decoded from the same bytes. */
  private moveData(bytes: Uint8Array, from: number, end: number): void {
    if (this.bodyEnd === this.bodyAt) this.bodyAt = this.bodyEnd = from;
    else bytes.copyWithin(this.bodyEnd, from, end);
    this.bodyEnd += end - from;
  }

  /** Returns the state after a byte that is not data. */
  private takeFraming(byte: number): At {
    switch (this.at) {
      case At.SizeStart:
      case At.Size:
        return this.takeSize(byte);
      case At.SizePad:
        return this.takeSizePad(byte);
      case At.Extension:
        return this.takeText(byte, At.SizeLf, this.bounds.chunkLineBytes);
      case At.SizeLf:
        return this.expect(byte, LF, this.remaining === 0 ? At.TrailerStart : At.Data);
      case At.DataCr:
        return this.expect(byte, CR, At.DataLf);
      case At.DataLf:
        return this.expect(byte, LF, At.SizeStart);
      case At.TrailerStart:
      case At.Trailer:
        return this.takeTrailer(byte);
      case At.TrailerLf:
        return this.expect(byte, LF, At.TrailerStart);
      default:
        return this.expect(byte, LF, At.Ended);
    }
  }

  private takeSize(byte: number): At {
    const digit = HEX[byte]!;
    if (this.at === At.SizeStart) {
      if (digit < 0) return this.reject("chunk without a size");
      this.remaining = this.lineBytes = 0;
    }
    if (digit < 0) return this.takeSizePad(byte);
    this.remaining = this.remaining * 16 + digit;
    if (this.remaining > MAX_CHUNK_BYTES) return this.reject("chunk size exceeds its bound");
    return this.countByte(At.Size, this.bounds.chunkLineBytes);
  }

  private takeSizePad(byte: number): At {
    if (byte === CR) return At.SizeLf;
    const bound = this.bounds.chunkLineBytes;
    if (byte === SEMICOLON) return this.countByte(At.Extension, bound);
    if (byte === SPACE || byte === TAB) return this.countByte(At.SizePad, bound);
    return this.reject("malformed chunk size");
  }

  private takeTrailer(byte: number): At {
    if (this.at === At.TrailerStart) {
      if (byte === CR) return At.EndLf;
      if (byte === SPACE || byte === TAB) return this.reject("folded trailer");
      this.at = At.Trailer;
    }
    return this.takeText(byte, At.TrailerLf, this.bounds.headBytes);
  }

  /** Skips a byte of an extension or trailer, up to its CR. A bare LF is rejected, because other parsers accept it as a line end. */
  private takeText(byte: number, next: At, boundBytes: number): At {
    if (byte === LF || byte === 0) return this.reject("forbidden byte in chunk framing");
    return this.countByte(byte === CR ? next : this.at, boundBytes);
  }

  private countByte(next: At, boundBytes: number): At {
    this.lineBytes += 1;
    return this.lineBytes > boundBytes ? this.reject("chunk framing exceeds its bound") : next;
  }

  private expect(byte: number, wanted: number, next: At): At {
    return byte === wanted ? next : this.reject("malformed chunk framing");
  }

  private reject(why: string): At {
    this.error = why;
    return this.at;
  }
}

function isLineEnd(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === CR && bytes[at + 1] === LF;
}
