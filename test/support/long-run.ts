import { ON_POSTGRES } from "./databases/test-databases.ts";

/** Whether all cells and seeds are run: `npm run suite -- long`. `npm test` runs a fixed share of them. */
export const IS_LONG_RUN = process.env["GATEWAY_TEST_LONG"] === "true";

/**
 * Whether tests run that start several processes and take seconds: in `npm run suite -- long`, and where gateways run on PostgreSQL
 * (`npm run suite -- postgres`).
 */
export const RUNS_SLOW_TESTS = IS_LONG_RUN || ON_POSTGRES;

/** Returns how many seeds, bodies or kills this run tries, given the number of a long run. */
export function shareOf(number: number, share: number): number {
  return IS_LONG_RUN ? number : Math.ceil(number * share);
}

/**
 * Returns whether this run tries a cell of a matrix: all in a long run, otherwise one in `oneIn`. If the
 * arguments are the indexes of a cell in each dimension, the chosen cells lie on diagonals, so that each value
 * of a dimension is combined with every value of the others.
 */
export function isInRun(oneIn: number, ...indexes: readonly number[]): boolean {
  return IS_LONG_RUN || indexes.reduce((sum, index) => sum + index, 0) % oneIn === 0;
}

/**
 * Returns how far apart the places are at which this run cuts a recording, given the distance in a long run: other runs try
 * every seventh.
 */
export function cutStep(distance: number): number {
  return IS_LONG_RUN ? distance : 7 * distance;
}
