import { Linked, LinkedSet } from "../../base/collections/linked-set.ts";
import type { Clock } from "../../base/time/clock.ts";

/** A bound on the bytes that all callers hold together, and on the bytes that each caller holds. */
export interface ByteBudget {
  /** Opens an empty share. Shares of one holder count together. */
  openShare(holder: string): ByteShare;
  /** Returns the number of bytes that all callers hold, without those that were only announced. */
  heldBytes(): number;
}

/** The bound that is reached: of all holders together, or of one. */
type ByteShortage = "all" | "holder";

/** A body that is being received. */
export interface Arrival {
  /** Records that a good part of it has arrived since the last call. */
  advance(): void;
  /** Records that the body has arrived completely, or that it is abandoned. Idempotent. */
  end(): void;
}

/** The bytes that are held for one purpose. */
export interface ByteShare {
  /** Returns the bound that prevents taking this many more bytes now; null if none does. */
  shortageFor(bytes: number): ByteShortage | null;
  /** Returns whether this many more bytes could be taken if every body that is being received were evicted. */
  mayFit(bytes: number): boolean;
  /**
   * Takes more bytes. If all bytes are in use, bodies that arrive slowly are evicted first, the slowest before the others. Returns false,
   * and takes nothing, if the bytes do not fit or the share was released.
   */
  take(bytes: number): boolean;
  /**
   * Takes the bytes of a body before it has arrived. Returns false, and takes nothing, if they do not fit, or if too many bytes are
   * announced already that may never arrive. Then the body is counted as it arrives.
   */
  announce(bytes: number): boolean;
  /** Records that the announced bytes have arrived. */
  arrive(): void;
  /**
   * Begins to receive a body. If it is slow and others need its bytes, its share is released, and then `onGone` is called.
   */
  beginArrival(onGone: () => void): Arrival;
  /** Takes additional bytes like `take`, but always succeeds for the only holder, so that one request can always be served. */
  takeExtra(bytes: number): boolean;
  /** Releases some of the bytes, at most what the share holds. */
  giveBack(bytes: number): void;
  /** Releases all bytes and closes the share. Idempotent. */
  release(): void;
}

/** The dependencies of a budget. */
interface ByteBudgetParts {
  readonly totalBytes: number;
  /** The maximum that a single holder may hold. */
  readonly holderBytes: number;
  readonly clock: Pick<Clock, "now">;
  /** Called whenever another `GARBAGE_BYTES` were released while as many are held. */
  readonly onGarbage: () => void;
}

export function createByteBudget(parts: ByteBudgetParts): ByteBudget {
  const counts = new ByteCounts(parts);
  return {
    openShare: (holder) => new Share(counts, counts.open(holder)),
    heldBytes: () => counts.total - counts.announced,
  };
}

/** The part of the budget that may be announced and not have arrived. */
const ANNOUNCED_SHARE = 1 / 16;
/** The time after which a body counts as slow, and is evicted for others when memory is short. Milliseconds. */
const SLOW_MS = 1_000;

/** Released bytes are garbage until the runtime collects them. Fewer are left to its own pace. */
const GARBAGE_BYTES = 64 * 1024 * 1024;

/** What the shares of one holder hold together. */
interface Holder {
  readonly id: string;
  bytes: number;
  /** The part of `bytes` that belongs to bodies that are being received. */
  arriving: number;
  /** Its open shares. */
  shares: number;
}

/** The bytes held by all and by each. Both may exceed their bounds, see `takeExtra`. */
class ByteCounts {
  total = 0;
  /** The part of `total` that was announced and may not have arrived. */
  announced = 0;
  /** The part of `total` that belongs to bodies that are being received. */
  private arriving = 0;
  /** The bodies that are being received and hold bytes. The first one has waited the longest. */
  private readonly arrivals = new LinkedSet<ArrivingBody>();
  /** Bytes that were released since the last call of `onGarbage`. */
  private released = 0;
  /** The holders with an open share. A share refers to its holder, so that taking bytes needs no lookup. */
  private readonly holders = new Map<string, Holder>();

  constructor(private readonly parts: ByteBudgetParts) {}

  /** Counts one more share of a holder. */
  open(id: string): Holder {
    let holder = this.holders.get(id);
    if (holder === undefined) {
      holder = { id, bytes: 0, arriving: 0, shares: 0 };
      this.holders.set(id, holder);
    }
    holder.shares += 1;
    return holder;
  }

  /** Removes one share of a holder. The share no longer holds anything. */
  close(holder: Holder): void {
    holder.shares -= 1;
    if (holder.shares === 0) this.holders.delete(holder.id);
  }

  shortageFor(holder: Holder, bytes: number): ByteShortage | null {
    if (this.total + bytes > this.parts.totalBytes) return "all";
    return holder.bytes + bytes > this.parts.holderBytes ? "holder" : null;
  }

  mayFit(holder: Holder, bytes: number): boolean {
    const { totalBytes, holderBytes } = this.parts;
    return (
      this.total - this.arriving + bytes <= totalBytes &&
      holder.bytes - holder.arriving + bytes <= holderBytes
    );
  }

  /** Returns whether this many more bytes may be announced. */
  mayAnnounce(bytes: number): boolean {
    return this.announced + bytes <= this.parts.totalBytes * ANNOUNCED_SHARE;
  }

  /** Evicts slow bodies other than `own` until this many more bytes fit, or no body is left. */
  makeRoom(bytes: number, own: ArrivingBody | null): void {
    if (this.total + bytes <= this.parts.totalBytes) return;
    const slowSince = this.parts.clock.now() - SLOW_MS;
    const isListed = own !== null && this.arrivals.delete(own);
    for (let { first } = this.arrivals; first !== null; first = this.arrivals.first) {
      if (first.since > slowSince || this.total + bytes <= this.parts.totalBytes) break;
      first.giveWay();
    }
    if (isListed) this.arrivals.add(own);
  }

  /** Counts bytes of a body that is being received, in addition to `add`. */
  addArriving(holder: Holder, bytes: number): void {
    this.arriving += bytes;
    holder.arriving += bytes;
  }

  /** Adds a body to the end of the list, as the one that has waited the shortest time. */
  list(body: ArrivingBody): void {
    this.arrivals.delete(body);
    body.since = this.parts.clock.now();
    this.arrivals.add(body);
  }

  unlist(body: ArrivingBody): void {
    this.arrivals.delete(body);
  }

  /** Returns whether `bytes` are everything that counts towards the bound of a shortage. */
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
    if (this.total >= GARBAGE_BYTES) this.parts.onGarbage();
  }
}

class ArrivingBody extends Linked implements Arrival {
  /** When its last good part has arrived. Milliseconds since the epoch. */
  since = 0;

  constructor(
    private readonly counts: ByteCounts,
    private readonly share: Share,
    private readonly onGone: () => void,
  ) {
    super();
    if (share.taken > 0) this.count(share.taken);
  }

  /** Counts bytes of the body, which are taken. */
  count(bytes: number): void {
    const isFirst = this.since === 0;
    this.counts.addArriving(this.share.holder, bytes);
    if (isFirst) this.counts.list(this);
  }

  advance(): void {
    if (this.share.arrival === this) this.counts.list(this);
  }

  end(): void {
    if (this.share.arrival !== this) return;
    this.share.arrival = null;
    this.share.arrive();
    this.counts.unlist(this);
    this.counts.addArriving(this.share.holder, -this.share.taken);
  }

  giveWay(): void {
    this.share.release();
    this.onGone();
  }
}

class Share implements ByteShare {
  taken = 0;
  /** The body that is being received; null if all has arrived. */
  arrival: ArrivingBody | null = null;
  /** The part of `taken` that may not have arrived. */
  private announced = 0;
  private isClosed = false;

  constructor(
    private readonly counts: ByteCounts,
    readonly holder: Holder,
  ) {}

  shortageFor(bytes: number): ByteShortage | null {
    return this.counts.shortageFor(this.holder, bytes);
  }

  mayFit(bytes: number): boolean {
    return this.counts.mayFit(this.holder, bytes);
  }

  take(bytes: number): boolean {
    if (this.isClosed) return false;
    this.counts.makeRoom(bytes, this.arrival);
    if (this.shortageFor(bytes) !== null) return false;
    this.add(bytes);
    return true;
  }

  takeExtra(bytes: number): boolean {
    if (this.isClosed) return false;
    this.counts.makeRoom(bytes, this.arrival);
    const shortage = this.shortageFor(bytes);
    if (shortage !== null && !this.counts.isAlone(this.holder, this.taken, shortage)) return false;
    this.add(bytes);
    return true;
  }

  announce(bytes: number): boolean {
    if (!this.counts.mayAnnounce(bytes) || !this.take(bytes)) return false;
    this.announced = bytes;
    this.counts.announced += bytes;
    return true;
  }

  beginArrival(onGone: () => void): Arrival {
    this.arrival = new ArrivingBody(this.counts, this, onGone);
    return this.arrival;
  }

  arrive(): void {
    this.counts.announced -= this.announced;
    this.announced = 0;
  }

  giveBack(bytes: number): void {
    this.add(-Math.min(bytes, this.taken));
  }

  release(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.arrival?.end();
    this.arrive();
    this.add(-this.taken);
    this.counts.close(this.holder);
  }

  private add(bytes: number): void {
    this.counts.add(this.holder, bytes);
    this.taken += bytes;
    this.arrival?.count(bytes);
  }
}
