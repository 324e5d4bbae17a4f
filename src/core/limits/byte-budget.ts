/** A bound on the bytes that all callers hold together, and on those that each caller holds. */
export interface ByteBudget {
  /** Opens an empty share. Shares of one holder count together. */
  openShare(holder: string): ByteShare;
  /** Returns the bytes that all callers hold. */
  heldBytes(): number;
}

/** The bound that is reached: of all holders together, or of one. */
export type ByteShortage = "all" | "holder";

/** The bytes that are held for one purpose. */
export interface ByteShare {
  /** Returns the bound that prevents taking so many more bytes now; null if none does. */
  shortageFor(bytes: number): ByteShortage | null;
  /** Takes more bytes. Returns false, and takes nothing, if they do not fit or the share was released. */
  take(bytes: number): boolean;
  /** Takes additional bytes like `take`, but always succeeds for the only holder, so that one request is always served. */
  takeExtra(bytes: number): boolean;
  /** Releases all bytes and closes the share. Idempotent. */
  release(): void;
}

/** Creates a budget of `totalBytes`. A single holder may hold at most `holderBytes`. */
export function createByteBudget(totalBytes: number, holderBytes: number): ByteBudget {
  const counts = new ByteCounts(totalBytes, holderBytes);
  return { openShare: (holder) => new Share(counts, holder), heldBytes: () => counts.total };
}

/** The bytes held by all and by each. Both may exceed their bounds, see `takeExtra`. */
class ByteCounts {
  total = 0;
  /** By holder; holders of nothing are removed. */
  private readonly byHolder = new Map<string, number>();

  constructor(
    private readonly maxTotal: number,
    private readonly maxOfHolder: number,
  ) {}

  shortageFor(holder: string, bytes: number): ByteShortage | null {
    if (this.total + bytes > this.maxTotal) return "all";
    return this.heldBy(holder) + bytes > this.maxOfHolder ? "holder" : null;
  }

  /** Returns whether `bytes` are all that counts towards the bound of a shortage. */
  isAlone(holder: string, bytes: number, shortage: ByteShortage): boolean {
    return bytes === (shortage === "all" ? this.total : this.heldBy(holder));
  }

  add(holder: string, bytes: number): void {
    this.total += bytes;
    const held = this.heldBy(holder) + bytes;
    if (held === 0) this.byHolder.delete(holder);
    else this.byHolder.set(holder, held);
  }

  private heldBy(holder: string): number {
    return this.byHolder.get(holder) ?? 0;
  }
}

class Share implements ByteShare {
  private taken = 0;
  private isClosed = false;

  constructor(
    private readonly counts: ByteCounts,
    private readonly holder: string,
  ) {}

  shortageFor(bytes: number): ByteShortage | null {
    return this.counts.shortageFor(this.holder, bytes);
  }

  take(bytes: number): boolean {
    if (this.isClosed || this.shortageFor(bytes) !== null) return false;
    this.add(bytes);
    return true;
  }

  takeExtra(bytes: number): boolean {
    if (this.isClosed) return false;
    const shortage = this.shortageFor(bytes);
    if (shortage !== null && !this.counts.isAlone(this.holder, this.taken, shortage)) return false;
    this.add(bytes);
    return true;
  }

  release(): void {
    this.isClosed = true;
    this.add(-this.taken);
  }

  private add(bytes: number): void {
    this.counts.add(this.holder, bytes);
    this.taken += bytes;
  }
}
