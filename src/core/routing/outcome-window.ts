const SLICES = 12;
const SLICE_MS = 5_000;

/** Counts successes and failures of the last minute, in slices of five seconds. */
export class OutcomeWindow {
  private readonly good = new Uint32Array(SLICES);
  private readonly bad = new Uint32Array(SLICES);
  private slice = 0;
  /** Within the window, as of the last call of `add` or `age`. */
  successes = 0;
  failures = 0;

  add(isSuccess: boolean, now: number): void {
    this.age(now);
    const at = this.slice % SLICES;
    if (isSuccess) {
      this.good[at] = (this.good[at] as number) + 1;
      this.successes += 1;
    } else {
      this.bad[at] = (this.bad[at] as number) + 1;
      this.failures += 1;
    }
  }

  /** Drops outcomes that left the window. A clock that goes back changes nothing. */
  age(now: number): void {
    const slice = Math.floor(now / SLICE_MS);
    if (slice <= this.slice) return;
    if (slice - this.slice >= SLICES) {
      this.clear();
    } else {
      for (let passed = this.slice + 1; passed <= slice; passed++) this.drop(passed % SLICES);
    }
    this.slice = slice;
  }

  clear(): void {
    this.good.fill(0);
    this.bad.fill(0);
    this.successes = 0;
    this.failures = 0;
  }

  private drop(at: number): void {
    this.successes -= this.good[at] as number;
    this.failures -= this.bad[at] as number;
    this.good[at] = 0;
    this.bad[at] = 0;
  }
}
