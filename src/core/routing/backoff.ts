const BASE_MS = 200;
const CAP_MS = 2_000;

/**
 * How long to wait before a retry, the first being 0: anything up to a bound that doubles with each, so that those who
 * failed together do not come back together. `random01` is from 0 to 1.
 */
export function backoffMs(retry: number, random01: number): number {
  return random01 * Math.min(CAP_MS, BASE_MS * 2 ** retry);
}
