/**
 * Bytes in several pieces. A changed copy of a large body shares the bytes that did not change, and takes no memory of its own for
 * them. The pieces must not change.
 */
export class BytePieces {
  /** The bytes of all pieces together. */
  readonly length: number;

  constructor(readonly pieces: readonly Uint8Array[]) {
    this.length = pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /** Returns a copy in one piece. */
  join(): Buffer {
    return Buffer.concat(this.pieces, this.length);
  }

  /** Returns the text, encoded in UTF-8. */
  toString(): string {
    return this.join().toString("utf8");
  }
}

/** Bytes in one piece or in several. */
export type Bytes = Uint8Array | BytePieces;

/** Returns bytes in one piece. */
export function inOnePiece(bytes: Bytes): Uint8Array {
  return bytes instanceof BytePieces ? bytes.join() : bytes;
}

/** Returns the pieces of bytes. */
export function piecesOf(bytes: Bytes): readonly Uint8Array[] {
  return bytes instanceof BytePieces ? bytes.pieces : [bytes];
}
