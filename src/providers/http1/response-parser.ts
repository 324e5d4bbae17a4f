import type { Http1Bounds } from "./bounds.ts";
import { ChunkedDecoder } from "./chunked-decoder.ts";
import { HeadReader, type ResponseHead } from "./response-head.ts";

/** What one read brought. Parts hold in the order they stand here. */
export interface Parsed {
  /** The answer's head, in the read that completed it. 1xx heads are read over. */
  readonly head: ResponseHead | null;
  /** All of the body this read held, as one piece of at least a byte. */
  readonly body: Uint8Array | null;
  /** The answer is whole. */
  readonly ended: boolean;
  /** Bytes came behind the answer's end; the connection can not be trusted with another. */
  readonly surplus: boolean;
  /** Why the answer is refused. */
  readonly error: string | null;
}

const NOTHING: Parsed = { head: null, body: null, ended: false, surplus: false, error: null };

/** Up to this size a copy is cheaper than a view, for which the engine first has to move the bytes it views. */
const COPY_BYTES = 4096;

/** How the body's end is known. */
type Framing = "head" | "length" | "chunked" | "close" | "over";

/**
 * Reads one answer from bytes in any cut. Knows no sockets. What it says as a whole does not depend on where
 * the bytes were cut.
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
   * Takes the next bytes. They belong to the parser from here on: bodies are pieces of them, and chunks are
   * moved together within them. Never throws.
   */
  feed(bytes: Uint8Array): Parsed {
    if (this.error !== null) return { ...NOTHING, error: this.error };
    if (this.framing !== "head") return this.feedBody(bytes, 0, null);
    let at = 0;
    while (at < bytes.length) {
      const next = this.reader.read(bytes, at);
      if (this.reader.error !== null) return this.refuse(this.reader.error);
      const head = this.reader.head;
      if (head === null) return NOTHING;
      at = next;
      if (head.status >= 200) {
        this.beginBody(head);
        return this.feedBody(bytes, at, head);
      }
      if (!this.passInterim(head)) return this.refuse(`unasked for interim answer ${head.status}`);
    }
    return NOTHING;
  }

  /** The peer closed cleanly: whether that is a whole answer, or at which part it stopped. */
  finish(): "ended" | "in-head" | "in-body" {
    if (this.error === null && this.framing === "close") this.framing = "over";
    if (this.framing === "over") return "ended";
    return this.framing === "head" ? "in-head" : "in-body";
  }

  /** 101 was never asked for, and an endless row of 1xx is an attack. */
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

  private refuse(why: string): Parsed {
    this.error = why;
    return { ...NOTHING, error: why };
  }
}

/** The part as a piece of its own; null when there is nothing in it. */
function slicePiece(bytes: Uint8Array, from: number, to: number): Uint8Array | null {
  if (from === to) return null;
  if (from === 0 && to === bytes.length) return bytes;
  if (to - from <= COPY_BYTES) return bytes.slice(from, to);
  return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset + from, to - from);
}
