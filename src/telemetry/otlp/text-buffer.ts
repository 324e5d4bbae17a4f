/** The maximum number of bytes of a UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** Collects text as UTF-8. Texts that are joined later would be copied twice more, and each large text has new pages of memory. */
export class TextBuffer {
  private bytes: Buffer<ArrayBuffer>;
  private used = 0;

  /** `size`: the bytes to begin with. It grows as needed. */
  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size);
  }

  append(text: string): void {
    const needed = this.used + text.length * MAX_BYTES_PER_UNIT;
    if (needed > this.bytes.length) this.grow(needed);
    this.used += this.bytes.write(text, this.used);
  }

  /** Returns the text so far. The bytes are valid until something is appended. */
  read(): Buffer<ArrayBuffer> {
    return this.bytes.subarray(0, this.used);
  }

  private grow(needed: number): void {
    const bytes = Buffer.allocUnsafe(Math.max(needed, 2 * this.bytes.length));
    this.bytes.copy(bytes, 0, 0, this.used);
    this.bytes = bytes;
  }
}
