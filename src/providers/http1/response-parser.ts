import type { Http1Bounds } from "./bounds.ts";
import { ChunkedDecoder } from "./chunked-decoder.ts";
import { ResponseHead } from "./response-head.ts";

/** The way in which the end of the body is determined. */
type Framing = "head" | "length" | "chunked" | "close" | "over";

/**
 * Parses one answer, without I/O. The result does not depend on how the bytes were split. The results of a call of `feed` are in the fields
 * until the next call.
 */
export class ResponseParser {
  /** The answer's head, once it is complete. 1xx heads are skipped. */
  head: ResponseHead | null = null;
  /** The range of the last fed bytes that belongs to the body. Chunks are moved together within it. */
  bodyAt = 0;
  bodyEnd = 0;
  /** Whether bytes followed the end of the answer. The connection must not be reused. */
  hasSurplus = false;
  /** Why the answer is rejected; null if it is not. */
  error: string | null = null;

  private readonly bounds: Http1Bounds;
  private readonly toHead: boolean;
  private framing: Framing = "head";
  private reading: ResponseHead;
  private interimHeads = 0;
  private remaining = 0;
  private chunks: ChunkedDecoder | null = null;

  /** `method` is the request's: an answer to HEAD has no body. */
  constructor(method: "GET" | "POST" | "HEAD", bounds: Http1Bounds) {
    this.bounds = bounds;
    this.toHead = method === "HEAD";
    this.reading = new ResponseHead(bounds);
  }

  /** Whether the answer is complete. */
  get isOver(): boolean {
    return this.framing === "over" && this.error === null;
  }

  /** Parses the next bytes. The parser owns them from then on, and may change those of the body. Never throws. */
  feed(bytes: Uint8Array): void {
    this.bodyAt = this.bodyEnd = 0;
    if (this.error !== null) return;
    let at = 0;
    while (this.framing === "head" && at < bytes.length) {
      at = this.reading.read(bytes, at);
      this.error = this.reading.error;
      if (at < 0) return;
      this.takeHead(this.reading);
      if (this.error !== null) return;
    }
    if (this.framing !== "head") this.feedBody(bytes, at);
  }

  /** Called after a clean close. Returns whether the answer is complete, or where it stopped. */
  finish(): "ended" | "in-head" | "in-body" {
    if (this.error === null && this.framing === "close") this.framing = "over";
    if (this.framing === "over") return "ended";
    return this.framing === "head" ? "in-head" : "in-body";
  }

  /** Begins the body after a head, and skips a 1xx head. Rejects 101, which was not requested, and too many of them. */
  private takeHead(head: ResponseHead): void {
    if (head.status >= 200) {
      this.head = head;
      this.beginBody(head);
      return;
    }
    this.interimHeads += 1;
    this.reading = new ResponseHead(this.bounds);
    if (head.status === 101 || this.interimHeads > this.bounds.interimHeads)
      this.error = `unexpected interim answer ${head.status}`;
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

  private feedBody(bytes: Uint8Array, at: number): void {
    if (this.framing === "length") this.feedCounted(bytes, at);
    else if (this.framing === "chunked") this.feedChunked(bytes, at);
    else if (this.framing === "close") this.takeBody(at, bytes.length);
    else this.hasSurplus = at < bytes.length;
  }

  private feedCounted(bytes: Uint8Array, at: number): void {
    const end = Math.min(bytes.length, at + this.remaining);
    this.remaining -= end - at;
    if (this.remaining === 0) this.framing = "over";
    this.takeBody(at, end);
    this.hasSurplus = end < bytes.length;
  }

  private feedChunked(bytes: Uint8Array, at: number): void {
    const chunks = this.chunks!;
    const next = chunks.decode(bytes, at);
    if (chunks.ended) this.framing = "over";
    this.error = chunks.error;
    this.takeBody(chunks.bodyAt, chunks.bodyEnd);
    this.hasSurplus = chunks.ended && next < bytes.length;
  }

  private takeBody(from: number, to: number): void {
    this.bodyAt = from;
    this.bodyEnd = to;
  }
}
