/** An edit that replaces the bytes from `start` to `end` by `insert`, which is encoded in UTF-8. Equal bounds insert. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly insert: string;
}

/**
 * Bytes with splices, which are applied when they are copied to where they are needed. A changed copy of a body shares the bytes that did not
 * change, and takes no memory of its own for them: they must not change.
 */
export class SplicedBytes {
  /** The bytes with all splices. */
  readonly length: number;
  /** The bytes that the splices insert. */
  readonly insertedBytes: number;

  /** `splices` are in the order of their positions and do not overlap. */
  constructor(
    private readonly source: Buffer,
    private readonly splices: readonly Splice[],
  ) {
    let inserted = 0;
    let removed = 0;
    for (const { start, end, insert } of splices) {
      inserted += Buffer.byteLength(insert);
      removed += end - start;
    }
    this.insertedBytes = inserted;
    this.length = source.length - removed + inserted;
  }

  /** Copies the bytes to `target` from offset `at`, where it must have room for them. Returns the offset after them. */
  copyTo(target: Buffer, at: number): number {
    const { source } = this;
    let from = 0;
    let to = at;
    for (const { start, end, insert } of this.splices) {
      if (start > from) to += source.copy(target, to, from, start);
      if (insert !== "") to += target.write(insert, to);
      from = end;
    }
    return to + source.copy(target, to, from);
  }

  /** Lists the bytes in pieces: views of the source, and what the splices insert. */
  listPieces(): readonly Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let from = 0;
    for (const { start, end, insert } of this.splices) {
      if (start > from) pieces.push(this.source.subarray(from, start));
      if (insert !== "") pieces.push(Buffer.from(insert));
      from = end;
    }
    if (from < this.source.length) pieces.push(this.source.subarray(from));
    return pieces;
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

/** Bytes in one piece, or with splices. */
export type Bytes = Uint8Array | SplicedBytes;

/** Returns bytes in one piece. */
export function inOnePiece(bytes: Bytes): Uint8Array {
  return bytes instanceof SplicedBytes ? bytes.join() : bytes;
}

/** Lists the pieces of bytes. */
export function piecesOf(bytes: Bytes): readonly Uint8Array[] {
  return bytes instanceof SplicedBytes ? bytes.listPieces() : [bytes];
}

/** Copies bytes to `target` from offset `at`, where it must have room for them. Returns the offset after them. */
export function copyBytes(bytes: Bytes, target: Buffer, at: number): number {
  if (bytes instanceof SplicedBytes) return bytes.copyTo(target, at);
  target.set(bytes, at);
  return at + bytes.length;
}
