interface CounterWindow {
  /** Length of one slice in milliseconds. */
  readonly sliceMs: number;
  /** Number of slices in the window. */
  readonly slices: number;
}

/**
 * Counts events of the last `slices * sliceMs` milliseconds. Events leave the window one slice at a time, so memory does not depend on
 * their number. If the clock goes back, events count at the latest time seen.
 */
export class SlicedCounter {
  private readonly counts: Uint32Array;
  /** The number of the current slice since the epoch. */
  private current = 0;
  private total = 0;

  constructor(private readonly window: CounterWindow) {
    this.counts = new Uint32Array(window.slices);
  }

  add(now: number, amount = 1): void {
    this.expire(now);
    const index = this.current % this.counts.length;
    this.counts[index] = (this.counts[index] as number) + amount;
    this.total += amount;
  }

  /** Returns the number of events within the window that ends at `now`. */
  sum(now: number): number {
    this.expire(now);
    return this.total;
  }

  /** Returns the number of events of the last `slices` slices, including the current one. */
  sumLast(now: number, slices: number): number {
    this.expire(now);
    const { length } = this.counts;
    let sum = 0;
    for (let back = 0; back < Math.min(slices, length); back++)
      sum += this.counts[(this.current - back + length) % length] as number;
    return sum;
  }

  clear(): void {
    this.counts.fill(0);
    this.total = 0;
  }

  private expire(now: number): void {
    const slice = Math.floor(now / this.window.sliceMs);
    if (slice <= this.current) return;
    if (slice - this.current >= this.counts.length) this.clear();
    else
      for (let passed = this.current + 1; passed <= slice; passed++) this.drop(passed % this.counts.length);
    this.current = slice;
  }

  private drop(index: number): void {
    this.total -= this.counts[index] as number;
    this.counts[index] = 0;
  }
}
