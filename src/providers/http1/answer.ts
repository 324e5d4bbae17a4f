import type { TransportError, UpstreamResponse } from "../../core/ports/transport.ts";
import type { Http1Bounds } from "./bounds.ts";
import type { ResponseHead } from "./response-head.ts";

/** Up to this size pieces that wait are handed on as one: cheaper than waking the reader for each. */
const JOIN_BYTES = 64 * 1024;

/** Whoever feeds an answer, and is told to stop and to go on. */
export interface Feeder {
  hold(): void;
  release(): void;
}

interface Waiting {
  resolve(piece: Uint8Array | null): void;
  reject(error: TransportError): void;
}

/** The head of an answer and what has come of its body: pieces wait here until they are read. */
export class Answer implements UpstreamResponse {
  readonly status: number;
  private readonly head: ResponseHead;
  private readonly feeder: Feeder;
  private readonly bounds: Http1Bounds;
  private pieces: Uint8Array[] = [];
  private unreadBytes = 0;
  private waiting: Waiting | null = null;
  private isHeld = false;
  private isOver = false;
  private error: TransportError | null = null;

  constructor(head: ResponseHead, feeder: Feeder, bounds: Http1Bounds) {
    this.status = head.status;
    this.head = head;
    this.feeder = feeder;
    this.bounds = bounds;
  }

  /** The server keeps the connection open after this answer. */
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

  /** Adds a piece of at least a byte. */
  push(piece: Uint8Array): void {
    if (this.waiting !== null) {
      const { resolve } = this.waiting;
      this.waiting = null;
      resolve(piece);
      return;
    }
    this.pieces.push(piece);
    this.unreadBytes += piece.length;
    if (this.unreadBytes >= this.bounds.unreadBytes || this.pieces.length >= this.bounds.unreadPieces) {
      this.isHeld = true;
      this.feeder.hold();
    }
  }

  /** The body is whole. */
  end(): void {
    this.isOver = true;
    this.waiting?.resolve(null);
    this.waiting = null;
  }

  /** The body broke off; what waits may still be read. */
  fail(error: TransportError): void {
    this.error = error;
    this.waiting?.reject(error);
    this.waiting = null;
  }

  /** Nobody wants the rest, nor what waits. */
  discard(error: TransportError): void {
    this.pieces = [];
    this.unreadBytes = 0;
    this.fail(error);
  }

  private take(): Uint8Array {
    const [first] = this.pieces;
    const joined = this.pieces.length > 1 && this.unreadBytes <= JOIN_BYTES;
    const piece = joined ? concat(this.pieces, this.unreadBytes) : first!;
    if (joined || this.pieces.length === 1) this.pieces = [];
    else this.pieces.shift();
    this.unreadBytes -= piece.length;
    // Only when all is read: a reader slower than its source would else hold and release at every piece.
    if (this.isHeld && this.pieces.length === 0) {
      this.isHeld = false;
      this.feeder.release();
    }
    return piece;
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
