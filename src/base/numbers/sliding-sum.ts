/** Where an amount was added to a sum. The amount can be corrected once its final value is known. */
export interface AddedAmount {
  /** Adds a difference, which may be negative; the amount itself never is. No-op once the amount has left the window. */
  correct(difference: number): void;
}

/**
 * Amounts that were added close together. They leave the window together, at the time of the latest one. The object stands for each of
 * them, so that an amount needs no object of its own.
 */
class Slice implements AddedAmount {
  lastAt: number;
  amount = 0;
  hasLeft = false;

  constructor(
    private readonly sum: SlidingSum,
    readonly openedAt: number,
  ) {
    this.lastAt = openedAt;
  }

  correct(difference: number): void {
    if (!this.hasLeft) this.sum.change(this, difference);
  }
}

/** Amounts that leave the window together. */
interface SlicedAmount {
  /** The time at which the last of them was added. */
  readonly lastAt: number;
  readonly amount: number;
}

/**
 * The sum of the amounts that were added within a sliding window. Times are milliseconds and never decrease from call to call; amounts are
 * never negative. No amount leaves the window early. Amounts of one slice leave together, so an amount may stay up to `sliceMs` longer than
 * the window. That bounds the memory of a sum to one entry per slice, whatever is added.
 */
export class SlidingSum {
  private readonly slices: Slice[] = [];
  private total = 0;

  constructor(
    private readonly windowMs: number,
    private readonly sliceMs: number,
  ) {}

  /** Returns the sum at a time. */
  at(now: number): number {
    this.slide(now);
    return this.total;
  }

  add(amount: number, now: number): AddedAmount {
    this.slide(now);
    const slice = this.sliceAt(now);
    this.change(slice, amount);
    return slice;
  }

  /** Lists what is in the window, the oldest first. */
  list(now: number): readonly SlicedAmount[] {
    this.slide(now);
    return this.slices;
  }

  /** Adds a difference to a slice that is in the window. */
  change(slice: Slice, difference: number): void {
    slice.amount += difference;
    this.total += difference;
  }

  /** Returns the milliseconds until the sum is at most `ceiling`; 0 if it already is. */
  waitUntil(ceiling: number, now: number): number {
    this.slide(now);
    if (this.total <= ceiling || this.slices.length === 0) return 0;
    const last = 2 * ceiling < this.total ? this.lastFromNewest(ceiling) : this.lastFromOldest(ceiling);
    return last.lastAt + this.windowMs - now;
  }

  /** Returns the slice with which the sum falls to `ceiling`. For a low ceiling it is among the newest. */
  private lastFromNewest(ceiling: number): Slice {
    let rest = 0;
    let at = this.slices.length - 1;
    for (; at > 0; at--) {
      rest += this.sliceWith(at).amount;
      if (rest > ceiling) break;
    }
    return this.sliceWith(at);
  }

  /** Returns the same slice as `lastFromNewest`. For a high ceiling it is among the oldest. */
  private lastFromOldest(ceiling: number): Slice {
    let rest = this.total;
    let at = 0;
    for (; at < this.slices.length - 1; at++) {
      rest -= this.sliceWith(at).amount;
      if (rest <= ceiling) break;
    }
    return this.sliceWith(at);
  }

  private sliceWith(at: number): Slice {
    return this.slices[at] as Slice;
  }

  private slide(now: number): void {
    const { slices } = this;
    let left = 0;
    for (; left < slices.length; left++) {
      const slice = this.sliceWith(left);
      if (slice.lastAt > now - this.windowMs) break;
      slice.hasLeft = true;
      this.total -= slice.amount;
    }
    if (left > 0) slices.splice(0, left);
  }

  private sliceAt(now: number): Slice {
    const newest = this.slices.at(-1);
    if (newest !== undefined && now - newest.openedAt < this.sliceMs) {
      newest.lastAt = Math.max(newest.lastAt, now);
      return newest;
    }
    const opened = new Slice(this, now);
    this.slices.push(opened);
    return opened;
  }
}
