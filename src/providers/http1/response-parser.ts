import type { Http1Bounds } from "./bounds.ts";
import { ChunkedDecoder } from "./chunked-decoder.ts";
import { HeadReader, type ResponseHead } from "./response-head.ts";

/** The result of one read. The fields apply in this order. */
export interface Parsed {
  /** The answer's head, in the read that completed it. 1xx heads are skipped. */
  readonly head: ResponseHead | null;
  /** The body bytes of this read; null if there are none. */
  readonly body: Uint8Array | null;
  /** Whether the answer is complete. */
  readonly ended: boolean;
  /** Whether bytes followed the end of the answer. The connection must not be reused. */
  readonly surplus: boolean;
  /** Why the answer is rejected; null if it is not. */
  readonly error: string | null;
}

const NOTHING: Parsed = { head: null, body: null, ended: false, surplus: false, error: null };

/** Up to this size a copy is cheaper than a view, because the engine moves the viewed bytes first. */
const COPY_BYTES = 4096;

/** What determines the end of the body. */
type Framing = "head" | "length" | "chunked" | "close" | "over";

/**
 * Parses one answer, without I/O. The result does not depend on how the bytes were split.
 */
export class ResponseParser {
  private readonly bounds: Http1Bounds;
  private readonly toHead: boolean;
  private framing: Framing = "head";
  private reader: HeadReader;
  private interimHeads = 0;
  private remaining = 0;
  private chunks: ChunkedDecoder | null = null;
  private error: string | null = null;

  /** `method` is the request's: an answer to HEAD has no body. */
  constructor(method: "GET" | "POST" | "HEAD", bounds: Http1Bounds) {
    this.bounds = bounds;
    this.toHead = method === "HEAD";
    this.reader = new HeadReader(bounds);
  }

  /**
   * Parses the next bytes. The parser owns them from then on: body pieces are views of them, and chunks are moved together
   * within them. Never throws.
   */
  feed(bytes: Uint8Array): Parsed {
    if (this.error !== null) return { ...NOTHING, error: this.error };
    if (this.framing !== "head") return this.feedBody(bytes, 0, null);
    let at = 0;
    while (at < bytes.length) {
      const next = this.reader.read(bytes, at);
      if (this.reader.error !== null) return this.reject(this.reader.error);
      const head = this.reader.head;
      if (head === null) return NOTHING;
      at = next;
      if (head.status >= 200) {
        this.beginBody(head);
        return this.feedBody(bytes, at, head);
      }
      if (!this.passInterim(head)) return this.reject(`unexpected interim answer ${head.status}`);
    }
    return NOTHING;
  }

  /** Called after a clean close. Returns whether the answer is complete, or where it stopped. */
  finish(): "ended" | "in-head" | "in-body" {
    if (this.error === null && this.framing === "close") this.framing = "over";
    if (this.framing === "over") return "ended";
    return this.framing === "head" ? "in-head" : "in-body";
  }

  /** Skips a 1xx head. Returns false for 101, which was not requested, and for too many of them. */
  private passInterim(head: ResponseHead): boolean {
    this.interimHeads += 1;
    this.reader = new HeadReader(this.bounds);
    return head.status !== 101 && this.interimHeads <= this.bounds.interimHeads;
  }

  private beginBody(head: ResponseHead): void {
    if (this.toHead || head.status === 204 || head.status === 304 || head.contentLength === 0) {
      this.framing = "over";
    } else if (head.chunked) {
      this.framing = "chunked";
      this.chunks = new ChunkedDecoder(this.bounds);
    } else if (head.contentLength !== null) {
      this.framing = "length";
      this.remaining = head.contentLength;
    } else {
      this.framing = "close";
    }
  }

  private feedBody(bytes: Uint8Array, at: number, head: ResponseHead | null): Parsed {
    switch (this.framing) {
      case "length":
        return this.feedCounted(bytes, at, head);
      case "chunked":
        return this.feedChunked(bytes, at, head);
      case "close":
        return { ...NOTHING, head, body: slicePiece(bytes, at, bytes.length) };
      default:
        return { ...NOTHING, head, ended: true, surplus: at < bytes.length };
    }
  }

  private feedCounted(bytes: Uint8Array, at: number, head: ResponseHead | null): Parsed {
    const end = Math.min(bytes.length, at + this.remaining);
    this.remaining -= end - at;
    const ended = this.remaining === 0;
    if (ended) this.framing = "over";
    return { head, body: slicePiece(bytes, at, end), ended, surplus: end < bytes.length, error: null };
  }

  private feedChunked(bytes: Uint8Array, at: number, head: ResponseHead | null): Parsed {
    const chunks = this.chunks!;
    const next = chunks.decode(bytes, at);
    const { ended, error } = chunks;
    if (ended) this.framing = "over";
    this.error = error;
    const body = slicePiece(bytes, chunks.bodyAt, chunks.bodyEnd);
    return { head, body, ended, surplus: ended && next < bytes.length, error };
  }

  private reject(why: string): Parsed {
    this.error = why;
    return { ...NOTHING, error: why };
  }
}

/** Returns a range as a piece; null if it is empty. */
function slicePiece(bytes: Uint8Array, from: number, to: number): Uint8Array | null {
  if (from === to) return null;
  if (from === 0 && to === bytes.length) return bytes;
  if (to - from <= COPY_BYTES) return bytes.slice(from, to);
  return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset + from, to - from);
}
