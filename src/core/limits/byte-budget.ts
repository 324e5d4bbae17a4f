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
  return { openShare: (holder) => new Share(counts, counts.open(holder)), heldBytes: () => counts.total };
}

/** Released bytes are garbage until the runtime collects them. Fewer are left to its own pace. */
const GARBAGE_BYTES = 64 * 1024 * 1024;

/** What the shares of one holder hold together. */
interface Holder {
  readonly id: string;
  bytes: number;
  /** Its open shares. */
  shares: number;
}

/** The bytes held by all and by each. Both may exceed their bounds, see `takeExtra`. */
class ByteCounts {
  total = 0;
  /** Bytes that were released since the last call of `onGarbage`. */
  private released = 0;
  /** Those with an open share, which refers to its holder so that taking bytes needs no lookup. */
  private readonly holders = new Map<string, Holder>();

  constructor(
    private readonly maxTotal: number,
    private readonly maxOfHolder: number,
    private readonly onGarbage: () => void,
  ) {}

  /** Counts one more share of a holder. */
  open(id: string): Holder {
    let holder = this.holders.get(id);
    if (holder === undefined) {
      holder = { id, bytes: 0, shares: 0 };
      this.holders.set(id, holder);
    }
    holder.shares += 1;
    return holder;
  }

  /** Counts one share less, which holds nothing any more. */
  close(holder: Holder): void {
    holder.shares -= 1;
    if (holder.shares === 0) this.holders.delete(holder.id);
  }

  shortageFor(holder: Holder, bytes: number): ByteShortage | null {
    if (this.total + bytes > this.maxTotal) return "all";
    return holder.bytes + bytes > this.maxOfHolder ? "holder" : null;
  }

  /** Returns whether `bytes` are all that counts towards the bound of a shortage. */
  isAlone(holder: Holder, bytes: number, shortage: ByteShortage): boolean {
    return bytes === (shortage === "all" ? this.total : holder.bytes);
  }

  add(holder: Holder, bytes: number): void {
    this.total += bytes;
    holder.bytes += bytes;
    if (bytes < 0) this.countReleased(-bytes);
  }

  private countReleased(bytes: number): void {
    this.released += bytes;
    if (this.released < GARBAGE_BYTES) return;
    this.released = 0;
    if (this.total >= GARBAGE_BYTES) this.onGarbage();
  }
}

class Share implements ByteShare {
  private taken = 0;
  private isClosed = false;

  constructor(
    private readonly counts: ByteCounts,
    private readonly holder: Holder,
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
    if (this.isClosed) return;
    this.isClosed = true;
    this.add(-this.taken);
    this.counts.close(this.holder);
  }

  private add(bytes: number): void {
    this.counts.add(this.holder, bytes);
    this.taken += bytes;
  }
}
