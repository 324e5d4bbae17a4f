/** Whether whole matrices and all seeds are run: `npm run test:long`. `npm test` runs a share of them, always the same. */
export const IS_LONG_RUN = process.env["GATEWAY_TEST_LONG"] === "true";

/** How many seeds, bodies or kills of a long run's number are tried in this run. */
export function shareOf(number: number, share: number): number {
  return IS_LONG_RUN ? number : Math.ceil(number * share);
}

/**
 * Whether a cell of a matrix is tried in this run; of the rest one in `oneIn` is. Given the indexes of a cell in each
 * dimension, the cells lie on diagonals, so that each value of a dimension meets values of every other.
 */
export function isInRun(oneIn: number, ...indexes: readonly number[]): boolean {
  return IS_LONG_RUN || indexes.reduce((sum, index) => sum + index, 0) % oneIn === 0;
}
