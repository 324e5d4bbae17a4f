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
  /** Releases some of the bytes, at most what the share holds. */
  giveBack(bytes: number): void;
  /** Releases all bytes and closes the share. Idempotent. */
  release(): void;
}

/**
 * Creates a budget of `totalBytes`. A single holder may hold at most `holderBytes`. `onGarbage` is called
 * whenever another `GARBAGE_BYTES` were released while as many are held.
 */
export function createByteBudget(
  totalBytes: number,
  holderBytes: number,
  onGarbage: () => void = () => {},
): ByteBudget {
  const counts = new ByteCounts(totalBytes, holderBytes, onGarbage);
  return { openShare: (holder) => new Share(counts, holder), heldBytes: () => counts.total };
}

/** Released bytes are garbage until the runtime collects them. Fewer are left to its own pace. */
const GARBAGE_BYTES = 64 * 1024 * 1024;

/** The bytes held by all and by each. Both may exceed their bounds, see `takeExtra`. */
class ByteCounts {
  total = 0;
  /** Bytes that were released since the last call of `onGarbage`. */
  private released = 0;
  /** By holder; holders of nothing are removed. */
  private readonly byHolder = new Map<string, number>();

  constructor(
    private readonly maxTotal: number,
    private readonly maxOfHolder: number,
    private readonly onGarbage: () => void,
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
    if (bytes < 0) this.countReleased(-bytes);
  }

  private countReleased(bytes: number): void {
    this.released += bytes;
    if (this.released < GARBAGE_BYTES) return;
    this.released = 0;
    if (this.total >= GARBAGE_BYTES) this.onGarbage();
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

  giveBack(bytes: number): void {
    this.add(-Math.min(bytes, this.taken));
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
