import type { Http1Bounds } from "./bounds.ts";

const CR = 13;
const LF = 10;
const SPACE = 32;
const TAB = 9;
const SEMICOLON = 59;

/** Above this a size would lose digits as a number. */
const MAX_CHUNK_BYTES = 2 ** 48;

/** Digits of a size that no read can exceed. */
const PLAIN_DIGITS = 7;

enum At {
  /** The first digit of a size: one is needed. */
  SizeStart,
  Size,
  /** Blanks behind a size; old servers pad with them. */
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
 * Decodes a chunked body as it comes. Extensions and trailers are read over and dropped: nothing in the
 * gateway means anything by them.
 */
export class ChunkedDecoder {
  /** Why the body is refused; null while it is not. */
  error: string | null = null;

  private readonly bounds: Http1Bounds;
  private at: At = At.SizeStart;
  /** The size being read, then what is left of the chunk. */
  private remaining = 0;
  /** Bytes of the line being read; of all trailers, once these have begun. */
  private lineBytes = 0;

  /** Where `decode` put the body: from `bodyAt` to `bodyEnd` of its argument. */
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
   * Takes `bytes` from `from` on; gives the offset behind what it took. The data of several chunks are moved
   * together within `bytes`, which is the decoder's to change: a read of many small chunks becomes one piece.
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
   * Takes the plain chunks that lie whole in `bytes`, which is how streams of events come; what is cut, adorned
   * or malformed is left to the walk byte by byte.
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

  /** Puts data behind what this read has brought before. */
  private moveData(bytes: Uint8Array, from: number, end: number): void {
    if (this.bodyEnd === this.bodyAt) this.bodyAt = this.bodyEnd = from;
    else bytes.copyWithin(this.bodyEnd, from, end);
    this.bodyEnd += end - from;
  }

  /** Gives the state behind a byte that is not data. */
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
      if (digit < 0) return this.refuse("chunk without a size");
      this.remaining = this.lineBytes = 0;
    }
    if (digit < 0) return this.takeSizePad(byte);
    this.remaining = this.remaining * 16 + digit;
    if (this.remaining > MAX_CHUNK_BYTES) return this.refuse("chunk size is over its bound");
    return this.countByte(At.Size, this.bounds.chunkLineBytes);
  }

  private takeSizePad(byte: number): At {
    if (byte === CR) return At.SizeLf;
    const bound = this.bounds.chunkLineBytes;
    if (byte === SEMICOLON) return this.countByte(At.Extension, bound);
    if (byte === SPACE || byte === TAB) return this.countByte(At.SizePad, bound);
    return this.refuse("malformed chunk size");
  }

  private takeTrailer(byte: number): At {
    if (this.at === At.TrailerStart) {
      if (byte === CR) return At.EndLf;
      if (byte === SPACE || byte === TAB) return this.refuse("folded trailer");
      this.at = At.Trailer;
    }
    return this.takeText(byte, At.TrailerLf, this.bounds.headBytes);
  }

  /** A byte of a line nobody needs, up to its CR. A bare LF would be a line end to others. */
  private takeText(byte: number, behind: At, boundBytes: number): At {
    if (byte === LF || byte === 0) return this.refuse("forbidden byte in chunk framing");
    return this.countByte(byte === CR ? behind : this.at, boundBytes);
  }

  private countByte(next: At, boundBytes: number): At {
    this.lineBytes += 1;
    return this.lineBytes > boundBytes ? this.refuse("chunk framing is over its bound") : next;
  }

  private expect(byte: number, wanted: number, next: At): At {
    return byte === wanted ? next : this.refuse("malformed chunk framing");
  }

  private refuse(why: string): At {
    this.error = why;
    return this.at;
  }
}

function isLineEnd(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === CR && bytes[at + 1] === LF;
}
