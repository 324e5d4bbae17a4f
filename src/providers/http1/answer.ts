import { readUtf8 } from "../../base/text/decode-bytes.ts";
import type { TransportError, UpstreamResponse } from "../../core/deployments/transport.ts";
import type { Http1Bounds } from "./bounds.ts";
import type { ResponseHead } from "./response-head.ts";

/**
 * The maximum number of bytes that one read returns. Smaller waiting pieces are joined up to this size, which is cheaper than a read for
 * each. Larger pieces are split, so that a slow reader holds no more than this.
 */
const READ_BYTES = 64 * 1024;

/** The source of an answer's body. */
export interface BodySource {
  pause(): void;
  resume(): void;
}

/** A range of bytes, which is copied or viewed once it is read. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/** The list of no unread pieces. It is never changed. */
const NO_PIECES: Piece[] = [];

interface Waiting {
  resolve(piece: Uint8Array | null): void;
  reject(error: TransportError): void;
}

/** The head of an answer and the unread pieces of its body. */
export class HttpAnswer implements UpstreamResponse {
  readonly status: number;
  private readonly head: ResponseHead;
  private readonly source: BodySource;
  private readonly bounds: Http1Bounds;
  private pieces: Piece[] = NO_PIECES;
  private unreadBytes = 0;
  private waiting: Waiting | null = null;
  private isPaused = false;
  private isOver = false;
  private error: TransportError | null = null;

  constructor(head: ResponseHead, source: BodySource, bounds: Http1Bounds) {
    this.status = head.status;
    this.head = head;
    this.source = source;
    this.bounds = bounds;
  }

  /** Whether the server keeps the connection open after this answer. */
  get keepAlive(): boolean {
    return this.head.keepAlive;
  }

  header(name: string): string | null {
    return this.head.header(name);
  }

  read(): Promise<Uint8Array | null> {
    if (this.waiting !== null) return Promise.reject(new Error("read called while a read is pending"));
    if (this.pieces.length > 0) return Promise.resolve(this.take());
    if (this.error !== null) return Promise.reject(this.error);
    if (this.isOver) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
    });
  }

  takeText(maxBytes: number): string | null {
    if (!this.isOver || this.error !== null || this.pieces.length > 1 || this.unreadBytes > maxBytes)
      return null;
    const [piece] = this.pieces;
    this.pieces = NO_PIECES;
    this.unreadBytes = 0;
    return piece === undefined ? "" : readUtf8(piece.bytes, piece.from, piece.to);
  }

  bufferedBytes(): number {
    return this.unreadBytes;
  }

  /** Adds the bytes from `from` to `to`, which must not be empty. They are kept. */
  push(bytes: Uint8Array, from: number, to: number): void {
    let at = from;
    if (this.waiting !== null) {
      const { resolve } = this.waiting;
      this.waiting = null;
      at = Math.min(to, from + READ_BYTES);
      resolve(slicePiece(bytes, from, at));
      if (at === to) return;
    }
    // A single unread piece keeps the other bytes of its read alive. Most answers have only one, which then need not be copied.
    if (this.pieces.length === 0) this.pieces = [{ bytes, from: at, to }];
    else this.pieces.push(wholeOf(slicePiece(bytes, at, to)));
    this.unreadBytes += to - at;
    if (this.unreadBytes >= this.bounds.unreadBytes || this.pieces.length >= this.bounds.unreadPieces) {
      this.isPaused = true;
      this.source.pause();
    }
  }

  /** Marks the body as complete. */
  end(): void {
    this.isOver = true;
    this.waiting?.resolve(null);
    this.waiting = null;
  }

  /** Marks the body as broken off. Its waiting pieces may still be read. */
  fail(error: TransportError): void {
    this.error = error;
    this.waiting?.reject(error);
    this.waiting = null;
  }

  /** Drops the waiting pieces and the rest of the body. */
  discard(error: TransportError): void {
    this.pieces = NO_PIECES;
    this.unreadBytes = 0;
    this.fail(error);
  }

  private take(): Uint8Array {
    const piece = this.cutPiece();
    this.unreadBytes -= piece.length;
    // Only when everything is read: otherwise a slow reader would pause and resume its source at every piece.
    if (this.isPaused && this.pieces.length === 0) {
      this.isPaused = false;
      this.source.resume();
    }
    return piece;
  }

  private cutPiece(): Uint8Array {
    const { pieces } = this;
    const { bytes, from, to } = pieces[0]!;
    if (to - from > READ_BYTES) {
      pieces[0] = { bytes, from: from + READ_BYTES, to };
      return slicePiece(bytes, from, from + READ_BYTES);
    }
    if (pieces.length > 1 && this.unreadBytes > READ_BYTES) {
      pieces.shift();
      return slicePiece(bytes, from, to);
    }
    this.pieces = NO_PIECES;
    return pieces.length === 1 ? slicePiece(bytes, from, to) : concat(pieces, this.unreadBytes);
  }
}

/** Up to this size a copy is cheaper than a view, because the engine moves the viewed bytes first. */
const COPY_BYTES = 4096;

/** Returns a range of bytes; the bytes themselves if the range contains all of them. */
function slicePiece(bytes: Uint8Array, from: number, to: number): Uint8Array {
  if (from === 0 && to === bytes.length) return bytes;
  if (to - from <= COPY_BYTES) return bytes.slice(from, to);
  return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset + from, to - from);
}

function wholeOf(bytes: Uint8Array): Piece {
  return { bytes, from: 0, to: bytes.length };
}

function concat(pieces: readonly Piece[], totalBytes: number): Uint8Array {
  const joined = new Uint8Array(totalBytes);
  let at = 0;
  for (const { bytes, from, to } of pieces) {
    joined.set(slicePiece(bytes, from, to), at);
    at += to - from;
  }
  return joined;
}
