/** An edit that replaces the bytes from `start` to `end` by `insert`, which is encoded in UTF-8. Equal bounds insert. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly insert: string;
}

/** The bytes of a source from `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Bytes composed of parts of a source and of texts, which are encoded in UTF-8 when they are copied to where they are needed. What is made from a
 * body shares the bytes that did not change, and takes no memory of its own for them: they must not change.
 */
export class ComposedBytes {
  readonly length: number;
  /** The bytes of the texts. */
  readonly textBytes: number;

  constructor(
    private readonly source: Buffer,
    private readonly pieces: readonly (ByteRange | string)[],
  ) {
    let shared = 0;
    let textBytes = 0;
    for (const piece of pieces) {
      if (typeof piece === "string") textBytes += Buffer.byteLength(piece);
      else shared += piece.end - piece.start;
    }
    this.textBytes = textBytes;
    this.length = shared + textBytes;
  }

  /** The number of bytes that a piece has on average. */
  get meanPieceBytes(): number {
    return this.length / this.pieces.length;
  }

  /** Copies the bytes to `target` from offset `at`, where it must have room for them. Returns the offset after them. */
  copyTo(target: Buffer, at: number): number {
    const { source } = this;
    let to = at;
    for (const piece of this.pieces) {
      if (typeof piece === "string") to += target.write(piece, to);
      else to += source.copy(target, to, piece.start, piece.end);
    }
    return to;
  }

  /** Lists the bytes in pieces: views of the source, and the texts. */
  listPieces(): readonly Uint8Array[] {
    return this.pieces.map((piece) =>
      typeof piece === "string" ? Buffer.from(piece) : this.source.subarray(piece.start, piece.end),
    );
  }

  /** Returns a copy in one piece. */
  join(): Buffer {
    const joined = Buffer.allocUnsafe(this.length);
    this.copyTo(joined, 0);
    return joined;
  }

  /** Returns the text, encoded in UTF-8. */
  toString(): string {
    return this.join().toString("utf8");
  }
}

/** Returns the bytes with these splices, which are in the order of their positions and do not overlap. */
export function spliceBytes(source: Buffer, splices: readonly Splice[]): ComposedBytes {
  const pieces: (ByteRange | string)[] = [];
  let from = 0;
  for (const { start, end, insert } of splices) {
    if (start > from) pieces.push({ start: from, end: start });
    if (insert !== "") pieces.push(insert);
    from = end;
  }
  if (from < source.length) pieces.push({ start: from, end: source.length });
  return new ComposedBytes(source, pieces);
}

/** Bytes in one piece, or composed. */
export type Bytes = Uint8Array | ComposedBytes;

/** Returns the number of bytes that have memory of their own. */
export function ownBytesOf(bytes: Bytes): number {
  return bytes instanceof ComposedBytes ? bytes.textBytes : bytes.length;
}

/** Returns bytes in one piece. */
export function inOnePiece(bytes: Bytes): Uint8Array {
  return bytes instanceof ComposedBytes ? bytes.join() : bytes;
}

/** Lists the pieces of bytes. */
export function piecesOf(bytes: Bytes): readonly Uint8Array[] {
  return bytes instanceof ComposedBytes ? bytes.listPieces() : [bytes];
}

/** Copies bytes to `target` from offset `at`, where it must have room for them. Returns the offset after them. */
export function copyBytes(bytes: Bytes, target: Buffer, at: number): number {
  if (bytes instanceof ComposedBytes) return bytes.copyTo(target, at);
  target.set(bytes, at);
  return at + bytes.length;
}
