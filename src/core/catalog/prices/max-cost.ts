import {
  fromPicodollars,
  MAX_PICODOLLARS,
  nanoToPicodollars,
  roundPicodollars,
  roundToNanodollars,
  toAttodollars,
} from "../../../base/numbers/money.ts";

/** The maximum cost of a request: a fixed part, and one for each token of its answers. */
export interface MaxCost {
  /** Returns the cost of a request whose answers have `tokens` together. Nanodollars, rounded once, half up. */
  at(tokens: number): number;
  /**
   * Returns the tokens of answers that an amount covers in addition to the fixed part, at most `most`. The amount is in nanodollars, or
   * infinite.
   */
  tokensWithin(amount: number, most: number): number;
  /** Returns the same cost in attodollars. */
  toExact(): ExactCost;
}

/** A cost of any size in attodollars. */
export class ExactCost implements MaxCost {
  constructor(
    readonly fixed: bigint,
    readonly perToken: bigint,
  ) {}

  at(tokens: number): number {
    return roundToNanodollars(this.fixed + BigInt(tokens) * this.perToken);
  }

  tokensWithin(amount: number, most: number): number {
    if (amount === Number.POSITIVE_INFINITY || this.perToken === 0n) return most;
    const left = toAttodollars(amount) - this.fixed;
    return left <= 0n ? 0 : Math.min(most, Number(left / this.perToken));
  }

  toExact(): ExactCost {
    return this;
  }
}

/**
 * A cost in whole picodollars, which suffices for nearly all requests, because a number is much cheaper than a bigint. Each part is at most
 * `MAX_PICODOLLARS`; larger costs are computed exactly.
 */
export class QuickCost implements MaxCost {
  constructor(
    private readonly fixed: number,
    private readonly perToken: number,
  ) {}

  at(tokens: number): number {
    const sum = this.fixed + tokens * this.perToken;
    return sum <= MAX_PICODOLLARS ? roundPicodollars(sum) : this.toExact().at(tokens);
  }

  tokensWithin(amount: number, most: number): number {
    if (this.perToken === 0) return most;
    const paid = nanoToPicodollars(amount);
    const left = Math.min(paid, MAX_PICODOLLARS) - this.fixed;
    // Exact: a quotient that is not whole is further from the next integer than it is rounded.
    const tokens = left <= 0 ? 0 : Math.floor(left / this.perToken);
    if (tokens >= most) return most;
    return paid <= MAX_PICODOLLARS ? tokens : this.toExact().tokensWithin(amount, most);
  }

  toExact(): ExactCost {
    return new ExactCost(fromPicodollars(this.fixed), fromPicodollars(this.perToken));
  }
}
