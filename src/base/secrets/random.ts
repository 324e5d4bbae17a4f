/** A source of random bytes. It is passed in, so that a simulation can replay a run. */
export interface Random {
  /** Returns `length` random bytes. */
  bytes(length: number): Uint8Array;
}

const POOL_BYTES = 4096;

/** Creates a cryptographic source. It reads from the system in blocks, because each read is expensive. */
export function createSystemRandom(): Random {
  let pool = new Uint8Array(0);
  let used = 0;
  return {
    bytes(length) {
      if (length > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(length));
      if (used + length > pool.length) {
        pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
        used = 0;
      }
      used += length;
      return pool.subarray(used - length, used);
    },
  };
}

/** Returns a number of at least 0 and below 1. */
export function randomShare(random: Random): number {
  const [a = 0, b = 0, c = 0, d = 0] = random.bytes(4);
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
}
