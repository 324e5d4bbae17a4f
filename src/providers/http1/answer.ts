import type { TransportError, UpstreamResponse } from "../../core/deployments/transport.ts";
import type { Http1Bounds } from "./bounds.ts";
import type { ResponseHead } from "./response-head.ts";

/**
 * The most bytes that one read returns. Smaller waiting pieces are joined up to it, which is cheaper than one read for each;
 * larger ones are split, so that a slow reader holds no more than this.
 */
const READ_BYTES = 64 * 1024;

/** The source of an answer's body. */
export interface BodySource {
  pause(): void;
  resume(): void;
}

interface Waiting {
  resolve(piece: Uint8Array | null): void;
  reject(error: TransportError): void;
}

/** The head of an answer and the unread pieces of its body. */
export class Answer implements UpstreamResponse {
  readonly status: number;
  private readonly head: ResponseHead;
  private readonly source: BodySource;
  private readonly bounds: Http1Bounds;
  private pieces: Uint8Array[] = [];
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

  bufferedBytes(): number {
    return this.unreadBytes;
  }

  /** Adds a piece, which must not be empty. */
  push(piece: Uint8Array): void {
    let rest = piece;
    if (this.waiting !== null) {
      const { resolve } = this.waiting;
      this.waiting = null;
      resolve(piece.length <= READ_BYTES ? piece : piece.subarray(0, READ_BYTES));
      if (piece.length <= READ_BYTES) return;
      rest = piece.subarray(READ_BYTES);
    }
    this.pieces.push(rest);
    this.unreadBytes += rest.length;
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
    this.pieces = [];
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
    const first = pieces[0]!;
    if (first.length > READ_BYTES) {
      pieces[0] = first.subarray(READ_BYTES);
      return first.subarray(0, READ_BYTES);
    }
    if (pieces.length > 1 && this.unreadBytes > READ_BYTES) {
      pieces.shift();
      return first;
    }
    this.pieces = [];
    return pieces.length === 1 ? first : concat(pieces, this.unreadBytes);
  }
}

function concat(pieces: readonly Uint8Array[], totalBytes: number): Uint8Array {
  const joined = new Uint8Array(totalBytes);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
