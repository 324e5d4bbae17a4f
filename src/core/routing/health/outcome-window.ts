import { SlicedCounter } from "../../../base/numbers/sliced-counter.ts";

const WINDOW = { slices: 12, sliceMs: 5_000 };

/** Counts successes and failures of the last minute. */
export class OutcomeWindow {
  private readonly good = new SlicedCounter(WINDOW);
  private readonly bad = new SlicedCounter(WINDOW);

  add(isSuccess: boolean, now: number): void {
    (isSuccess ? this.good : this.bad).add(now);
  }

  successes(now: number): number {
    return this.good.sum(now);
  }

  failures(now: number): number {
    return this.bad.sum(now);
  }

  clear(): void {
    this.good.clear();
    this.bad.clear();
  }
}
