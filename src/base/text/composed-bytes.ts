/**
 * An edit that replaces the bytes from `start` to `end` by `insert`, which is encoded in UTF-8. If `start` and `end` are equal, it only
 * inserts.
 */
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

/** Printed bytes, and where parts of a source stand between them. */
export interface Interleaved {
  readonly printed: Buffer;
  /**
   * Three numbers for each part of the source, in order: the number of printed bytes before it, and its start and end in the source. The
   * remaining printed bytes follow the last part.
   */
  readonly cuts: readonly number[];
}

/** Returns the same with further printed bytes at the beginning and the end. */
export function enclose(begin: Buffer, { printed, cuts }: Interleaved, end: Buffer): Interleaved {
  const moved = cuts.map((number, at) => (at % CUT === 0 ? number + begin.length : number));
  return { printed: Buffer.concat([begin, printed, end]), cuts: moved };
}

/**
 * Bytes composed of parts of a source and printed bytes between them. They are joined only when they are copied to their destination. What
 * is made from a body shares the unchanged bytes of the body, without memory of its own, so these bytes must not change.
 */
export class ComposedBytes {
  readonly length: number;

  private readonly printed: Buffer;
  private readonly cuts: readonly number[];

  constructor(
    private readonly source: Buffer,
    { printed, cuts }: Interleaved,
  ) {
    this.printed = printed;
    this.cuts = cuts;
    let shared = 0;
    for (let cut = 0; cut < cuts.length; cut += CUT) shared += this.at(cut + 2) - this.at(cut + 1);
    this.length = shared + printed.length;
  }

  /** Composes bytes of parts of the source and of texts, which are encoded in UTF-8. */
  static of(source: Buffer, pieces: readonly (ByteRange | string)[]): ComposedBytes {
    let printedBytes = 0;
    for (const piece of pieces) if (typeof piece === "string") printedBytes += Buffer.byteLength(piece);
    const printed = Buffer.allocUnsafe(printedBytes);
    const cuts: number[] = [];
    let at = 0;
    for (const piece of pieces) {
      if (typeof piece === "string") at += printed.write(piece, at);
      else cuts.push(at, piece.start, piece.end);
    }
    return new ComposedBytes(source, { printed, cuts });
  }

  /** The number of bytes that have memory of their own. */
  get printedBytes(): number {
    return this.printed.length;
  }

  /** The number of bytes that a piece has on average. */
  get meanPieceBytes(): number {
    return this.length / ((2 * this.cuts.length) / CUT + 1);
  }

  /** Copies the bytes to `target` from offset `at`, where it must have room for them. Returns the offset after them. */
  copyTo(target: Buffer, at: number): number {
    const { source, printed, cuts } = this;
    let to = at;
    let from = 0;
    for (let cut = 0; cut < cuts.length; cut += CUT) {
      const until = this.at(cut);
      to = copyRange(printed, from, until, target, to);
      to = copyRange(source, this.at(cut + 1), this.at(cut + 2), target, to);
      from = until;
    }
    return copyRange(printed, from, printed.length, target, to);
  }

  /** Lists the bytes in pieces, which are views. */
  listPieces(): readonly Uint8Array[] {
    const { source, printed, cuts } = this;
    const pieces: Uint8Array[] = [];
    let from = 0;
    for (let cut = 0; cut < cuts.length; cut += CUT) {
      const until = this.at(cut);
      if (until > from) pieces.push(printed.subarray(from, until));
      pieces.push(source.subarray(this.at(cut + 1), this.at(cut + 2)));
      from = until;
    }
    if (printed.length > from) pieces.push(printed.subarray(from));
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

  private at(cut: number): number {
    return this.cuts[cut] as number;
  }
}

/** The numbers of a cut. */
const CUT = 3;
/** Up to this length a loop is faster than a call of the runtime. Bytes. */
const SHORT_BYTES = 24;

function copyRange(from: Buffer, start: number, end: number, target: Buffer, at: number): number {
  if (end - start > SHORT_BYTES) return at + from.copy(target, at, start, end);
  let to = at;
  for (let next = start; next < end; next++) target[to++] = from[next] as number;
  return to;
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
  return ComposedBytes.of(source, pieces);
}

/** Bytes in one piece, or composed. */
export type Bytes = Uint8Array | ComposedBytes;

/** Returns the number of bytes that have memory of their own. */
export function ownBytesOf(bytes: Bytes): number {
  return bytes instanceof ComposedBytes ? bytes.printedBytes : bytes.length;
}

/** Returns bytes in one piece. */
export function joinIntoOne(bytes: Bytes): Uint8Array {
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
