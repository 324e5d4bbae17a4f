/** The memory that is kept. Bytes. */
const KEPT_BYTES = 128 * 1024;
/** Up to this length a loop is faster than a call of the runtime. Bytes. */
const SHORT_BYTES = 24;

/** Collects bytes in memory that is reused after each `take`. */
export class ByteOutput {
  private bytes = Buffer.allocUnsafeSlow(KEPT_BYTES);
  private length = 0;

  /** Drops what was appended. */
  clear(): void {
    this.length = 0;
    this.shrink();
  }

  /** Appends all of `source`. */
  append(source: Uint8Array): void {
    if (source.length <= SHORT_BYTES) {
      this.appendRange(source, 0, source.length);
      return;
    }
    this.reserve(source.length);
    this.bytes.set(source, this.length);
    this.length += source.length;
  }

  /** Appends the bytes of `source` from `start` to `end`. */
  appendRange(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    const { bytes } = this;
    let to = this.length;
    if (end - start <= SHORT_BYTES) for (let at = start; at < end; at++) bytes[to++] = source[at] as number;
    else bytes.set(source.subarray(start, end), to);
    this.length += end - start;
  }

  /** Appends bytes that are given as Latin-1. */
  appendLatin1(text: string): void {
    if (text === "") return;
    this.reserve(text.length);
    this.length += this.bytes.write(text, this.length, "latin1");
  }

  /** Appends a short text of ASCII characters, which takes a third of the time of `appendLatin1`. */
  appendAscii(text: string): void {
    this.reserve(text.length);
    const { bytes } = this;
    let to = this.length;
    for (let at = 0; at < text.length; at++) bytes[to++] = text.charCodeAt(at);
    this.length = to;
  }

  /** The number of bytes that were appended. */
  get size(): number {
    return this.length;
  }

  /** Returns a copy of what was appended, with `room` bytes of any content behind it, and begins anew. */
  take(room = 0): Buffer {
    const taken = Buffer.allocUnsafe(this.length + room);
    this.bytes.copy(taken, 0, 0, this.length);
    this.clear();
    return taken;
  }

  private shrink(): void {
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(KEPT_BYTES);
  }

  private reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }
}
