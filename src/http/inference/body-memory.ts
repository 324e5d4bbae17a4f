import type { RequestMemory } from "../../core/generation/call/call.ts";
import type { ByteShare } from "../../core/limits/byte-budget.ts";

/** Holds the body of an inference request until it is released, and counts the memory of the request. */
export class BodyMemory implements RequestMemory {
  private body: Buffer | null;
  /** The bytes of the share for the body, and for everything that was read and made from it. */
  private heldBytes: number;

  /** `readBytes` is the memory of what was read from the body. It and the body are already counted in `share`; null if nothing is counted. */
  constructor(
    body: Buffer,
    readBytes: number,
    private readonly share: ByteShare | null,
  ) {
    this.body = body;
    this.heldBytes = body.length + readBytes;
  }

  /** @throws Error if the body was released. */
  readBody(): Buffer {
    if (this.body === null) throw new Error("the body was released");
    return this.body;
  }

  take(bytes: number): boolean {
    if (this.share?.takeExtra(bytes) === false) return false;
    this.heldBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.heldBytes -= bytes;
    this.share?.giveBack(bytes);
  }

  release(keptBytes: number): void {
    this.body = null;
    this.giveBack(Math.max(0, this.heldBytes - keptBytes));
  }
}
