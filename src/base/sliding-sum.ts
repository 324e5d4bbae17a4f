/** Amounts that were added close together. They leave the window together, with the latest of them. */
interface Slice {
  readonly openedAt: number;
  lastAt: number;
  amount: number;
  hasLeft: boolean;
}

/** An amount that was added to a sum. It can be corrected once its final value is known. */
export interface AddedAmount {
  /** Adds a difference, which may be negative. No-op once the amount has left the window. */
  correct(difference: number): void;
}

/**
 * The sum of the amounts that were added within a sliding window. Times are milliseconds and never decrease from call to call.
 * No amount leaves the window early; an amount may stay up to `sliceMs` longer than the window, because amounts of one slice
 * leave together. That bounds the memory of a sum to one entry per slice, whatever is added.
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
    const change = (difference: number): void => {
      slice.amount += difference;
      this.total += difference;
    };
    change(amount);
    return { correct: (difference) => (slice.hasLeft ? undefined : change(difference)) };
  }

  /** Returns the milliseconds until the sum is at most `ceiling`: 0 if it is already. */
  waitUntil(ceiling: number, now: number): number {
    this.slide(now);
    let rest = this.total;
    let waitMs = 0;
    for (const slice of this.slices) {
      if (rest <= ceiling) break;
      rest -= slice.amount;
      waitMs = slice.lastAt + this.windowMs - now;
    }
    return waitMs;
  }

  private slide(now: number): void {
    const inWindow = this.slices.findIndex(({ lastAt }) => lastAt > now - this.windowMs);
    const left = this.slices.splice(0, inWindow < 0 ? this.slices.length : inWindow);
    for (const slice of left) {
      slice.hasLeft = true;
      this.total -= slice.amount;
    }
  }

  private sliceAt(now: number): Slice {
    const newest = this.slices.at(-1);
    if (newest !== undefined && now - newest.openedAt < this.sliceMs) {
      newest.lastAt = Math.max(newest.lastAt, now);
      return newest;
    }
    const opened = { openedAt: now, lastAt: now, amount: 0, hasLeft: false };
    this.slices.push(opened);
    return opened;
  }
}
