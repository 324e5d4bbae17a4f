/** Limits retries at a provider to a share of its first attempts in the last minute, plus a small reserve. */
export interface RetryBudget {
  mayRetry(provider: string, now: number): boolean;
  /** Records the first attempt of a request at a provider. */
  recordFirst(provider: string, now: number): void;
  /** Records a further attempt of a request at a provider. */
  recordRetry(provider: string, now: number): void;
}

const SHARE = 0.1;
/** Retries per minute that are always allowed, for providers with little traffic. */
const RESERVE = 10;
const SLICES = 12;
const SLICE_MS = 5_000;
const MAX_PROVIDERS = 10_000;

interface Counts {
  readonly firsts: Uint32Array;
  readonly retries: Uint32Array;
  slice: number;
}

/** Creates an unused budget. */
export function createRetryBudget(): RetryBudget {
  /** In order of creation, the newest last. */
  const counts = new Map<string, Counts>();

  const open = (provider: string, now: number): Counts => {
    let known = counts.get(provider);
    if (known === undefined) {
      known = { firsts: new Uint32Array(SLICES), retries: new Uint32Array(SLICES), slice: 0 };
      counts.set(provider, known);
      if (counts.size > MAX_PROVIDERS) counts.delete(counts.keys().next().value as string);
    }
    age(known, now);
    return known;
  };

  return {
    mayRetry(provider, now) {
      const known = counts.get(provider);
      if (known === undefined) return true;
      age(known, now);
      return sum(known.retries) + 1 <= RESERVE + SHARE * sum(known.firsts);
    },
    recordFirst: (provider, now) => addOne(open(provider, now), "firsts"),
    recordRetry: (provider, now) => addOne(open(provider, now), "retries"),
  };
}

function addOne(counts: Counts, what: "firsts" | "retries"): void {
  const at = counts.slice % SLICES;
  counts[what][at] = (counts[what][at] as number) + 1;
}

function age(counts: Counts, now: number): void {
  const slice = Math.floor(now / SLICE_MS);
  const first = Math.max(counts.slice + 1, slice - SLICES + 1);
  for (let passed = first; passed <= slice; passed++) {
    counts.firsts[passed % SLICES] = 0;
    counts.retries[passed % SLICES] = 0;
  }
  counts.slice = Math.max(counts.slice, slice);
}

function sum(numbers: Uint32Array): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
