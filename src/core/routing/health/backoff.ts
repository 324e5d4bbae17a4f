const BASE_MS = 200;
const CAP_MS = 2_000;

/**
 * Returns how long to wait before retry number `retry` (from 0 on), in milliseconds: exponential backoff with full jitter, so
 * that requests which failed together do not return together. `random01` is from 0 to 1.
 */
export function backoffMs(retry: number, random01: number): number {
  return random01 * Math.min(CAP_MS, BASE_MS * 2 ** retry);
}
