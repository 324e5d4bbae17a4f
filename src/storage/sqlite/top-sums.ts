import type { BudgetSum } from "../../core/accounts/stores/budget-store.ts";

/** The number of sums that are kept in addition to the largest ones, before the largest are chosen again. */
const SPARE = 1_000;

/** Finds the largest sums among slices in the order of their values. A value may be in two slices. */
export class TopSums {
  private sums: BudgetSum[] = [];
  /** The last sum, to which the next slice may add. */
  private last: BudgetSum | null = null;

  constructor(private readonly limit: number) {}

  add(slice: readonly BudgetSum[]): void {
    for (const sum of slice) {
      const { last } = this;
      if (last?.value === sum.value) this.last = { value: sum.value, spent: last.spent + sum.spent };
      else {
        if (last !== null) this.sums.push(last);
        this.last = sum;
      }
    }
    if (this.sums.length > this.limit + SPARE) this.choose();
  }

  /** Ends the sums and returns the largest ones, the largest first. Is called once, after the last slice. */
  end(): readonly BudgetSum[] {
    if (this.last !== null) this.sums.push(this.last);
    this.choose();
    return this.sums;
  }

  private choose(): void {
    this.sums.sort((a, b) => b.spent - a.spent || (a.value < b.value ? -1 : 1));
    this.sums.splice(this.limit);
  }
}
