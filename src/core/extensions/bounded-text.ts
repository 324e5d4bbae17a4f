import type { AdmittedCall } from "../generation/call/extension.ts";

/** The beginning of a text, as far as its bound and the memory allow. */
export class BoundedText {
  private readonly pieces: Buffer[] = [];
  private bytes = 0;
  private truncated = false;

  /** The memory of each piece is reserved with `call`. */
  constructor(
    private readonly maxBytes: number,
    private readonly call: Pick<AdmittedCall, "takeMemory">,
  ) {}

  /** Whether something was left out. */
  get isTruncated(): boolean {
    return this.truncated;
  }

  /** Appends a copy of a piece. After a piece that did not fit, nothing is appended any more. */
  append(piece: Uint8Array): void {
    if (this.truncated) return;
    const fitting = piece.subarray(0, this.maxBytes - this.bytes);
    this.truncated = fitting.length < piece.length;
    if (this.call.takeMemory(fitting.length)) {
      this.pieces.push(Buffer.from(fitting));
      this.bytes += fitting.length;
    } else this.truncated = true;
  }

  /** The text so far, decoded as UTF-8. */
  toString(): string {
    return Buffer.concat(this.pieces).toString("utf8");
  }
}
